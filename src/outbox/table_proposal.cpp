// What an [[outbox]] entry for a table could say.
#include "outbox/table_proposal.hpp"

#include "outbox/resolved_columns.hpp"
#include "outbox/table_plan.hpp"

#include <initializer_list>
#include <string_view>

namespace walrelay::outbox {
namespace {

class proposer {
public:
    proposer(const std::vector<column>& columns, const domain_types& domains)
        : columns_(columns), domains_(domains) {}

    table_proposal run(const table_name& table) && {
        find_roles(table);
        if (!find_text() && !find_flag()) {
            find_time();
        }
        return std::move(made_);
    }

private:
    void find_roles(const table_name& table) {
        const auto plan = make_plan({.table = table});
        const auto resolved = resolve(*plan, columns_, domains_);
        made_.subject = "events";
        for (const auto role : all_roles) {
            if (const auto& playing = resolved.playing(role)) {
                made_.roles.emplace_back(role, columns_[playing->index].name);
                const bool in_subject =
                    role == column_role::aggregate_type || role == column_role::event_type;
                made_.subject += in_subject ? ".{" + std::string(to_string(role)) + '}' : "";
            }
        }
        made_.subject += made_.subject == "events" ? ".outbox" : "";
    }

    /// The first column of these names and this kind; empty if there is none.
    [[nodiscard]] std::string find(std::initializer_list<std::string_view> names,
                                   type_kind kind) const {
        for (const std::string_view name : names) {
            for (const column& each : columns_) {
                if (each.name == name && kind_of(each.type, domains_) == kind) {
                    return each.name;
                }
            }
        }
        return "";
    }

    [[nodiscard]] std::string time_column() const {
        return find({"published_at", "sent_at", "processed_at", "delivered_at", "dispatched_at"},
                    type_kind::timestamp);
    }

    bool find_text() {
        made_.status_column =
            find({"status", "state", "outbox_status", "event_status"}, type_kind::text);
        made_.pending = made_.status_column + " = 'pending'";
        made_.on_published = made_.status_column + " = 'published'" + and_time();
        made_.republish_value = "pending";
        return !made_.status_column.empty();
    }

    bool find_flag() {
        made_.status_column =
            find({"published", "sent", "processed", "delivered", "dispatched"}, type_kind::boolean);
        made_.pending = "NOT " + made_.status_column;
        made_.on_published = made_.status_column + " = true" + and_time();
        made_.republish_value = "f";
        return !made_.status_column.empty();
    }

    void find_time() {
        made_.status_column = time_column();
        const bool found = !made_.status_column.empty();
        made_.pending = found ? made_.status_column + " IS NULL" : "";
        made_.on_published = found ? made_.status_column + " = now()" : "";
        made_.republish_value = "";
    }

    [[nodiscard]] std::string and_time() const {
        const std::string time = time_column();
        return time.empty() ? "" : ", " + time + " = now()";
    }

    const std::vector<column>& columns_;
    const domain_types& domains_;
    table_proposal made_;
};

}  // namespace

table_proposal propose(const table_name& table, const std::vector<column>& columns,
                       const domain_types& domains) {
    return proposer(columns, domains).run(table);
}

}  // namespace walrelay::outbox
