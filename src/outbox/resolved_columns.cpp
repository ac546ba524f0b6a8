#include "outbox/resolved_columns.hpp"

#include <algorithm>

namespace walrelay::outbox {
namespace {

class resolver {
public:
    resolver(const table_plan& plan, const std::vector<column>& columns,
             const domain_types& domains, const made_types& made)
        : plan_(plan), columns_(columns), domains_(domains), made_(made) {}

    resolved_columns run() &&;

private:
    [[nodiscard]] std::optional<used_column> find(std::string_view name);
    std::optional<used_column> find_for(column_role role);
    column_indexes find_all(std::string_view setting, const text_template& form);
    [[nodiscard]] std::optional<used_column> find_in_template(std::string_view name);
    [[nodiscard]] bool is_configured_role(std::string_view name) const;
    void check_body();

    const table_plan& plan_;
    const std::vector<column>& columns_;
    const domain_types& domains_;
    const made_types& made_;
    resolved_columns found_;
};

std::optional<used_column> resolver::find(std::string_view name) {
    const auto place = std::find_if(columns_.begin(), columns_.end(),
                                    [name](const column& each) { return each.name == name; });
    if (place == columns_.end()) {
        return std::nullopt;
    }
    if (!is_known(place->type, domains_, made_)) {
        found_.problems.push_back("column \"" + place->name + "\" of table " +
                                  to_string(plan_.table) + " had a type (oid " +
                                  std::to_string(place->type) +
                                  ") that is gone, so that nobody can tell the form of its value");
    }
    return used_column{static_cast<std::uint32_t>(place - columns_.begin()),
                       kind_of(place->type, domains_)};
}

std::optional<used_column> resolver::find_for(column_role role) {
    if (const auto& configured = configured_column(plan_.columns, role)) {
        if (configured->empty()) {
            return std::nullopt;
        }
        auto chosen = find(*configured);
        if (!chosen) {
            found_.problems.push_back("table " + to_string(plan_.table) + " has no column \"" +
                                      *configured + "\", which columns." +
                                      std::string(to_string(role)) + " names");
        }
        return chosen;
    }
    if (role == column_role::payload) {
        if (auto event_data = find("event_data")) {
            return event_data;
        }
    }
    return find(to_string(role));
}

std::optional<used_column> resolver::find_in_template(std::string_view name) {
    if (const auto role = role_named(name)) {
        if (const auto& playing = found_.playing(*role)) {
            return playing;
        }
    }
    return find(name);
}

/// Where the column of such a role is missing, that has been said already.
bool resolver::is_configured_role(std::string_view name) const {
    const auto role = role_named(name);
    return role && !configured_column(plan_.columns, *role).value_or("").empty();
}

column_indexes resolver::find_all(std::string_view setting, const text_template& form) {
    column_indexes indexes;
    for (const auto& part : form.parts()) {
        for (const auto& name : part.names) {
            if (const auto named = find_in_template(name)) {
                indexes.push_back(named->index);
            } else if (!is_configured_role(name)) {
                found_.problems.push_back("table " + to_string(plan_.table) +
                                          " has no column for {" + name + "} in " +
                                          std::string(setting) + " \"" + form.text() + "\"");
            }
        }
    }
    return indexes;
}

void resolver::check_body() {
    const bool needs_payload = plan_.body != body_format::event;
    if (needs_payload && !found_.playing(column_role::payload) &&
        plan_.columns.payload.value_or("").empty()) {
        found_.problems.push_back("table " + to_string(plan_.table) +
                                  " has no column event_data or payload, and columns.payload "
                                  "names no other for the body");
    }
}

resolved_columns resolver::run() && {
    for (const auto role : all_roles) {
        found_.roles[static_cast<std::size_t>(role)] = find_for(role);
    }
    found_.subject = find_all("subject", plan_.subject);
    const auto problems = found_.problems.size();
    found_.message_id = find_all("message_id", plan_.message_id);
    std::size_t names = 0;
    for (const auto& part : plan_.message_id.parts()) {
        names += part.names.size();
    }
    found_.has_message_id = found_.problems.size() == problems && found_.message_id.size() == names;
    for (const auto& header : plan_.headers) {
        found_.headers.push_back(find_all("header " + header.name, header.value));
    }
    found_.traceparent = find("traceparent");
    found_.tracestate = find("tracestate");
    for (std::uint32_t index = 0; index < columns_.size(); ++index) {
        if (kind_of(columns_[index].type, domains_) == type_kind::bytea) {
            found_.byteas.push_back(index);
        }
    }
    check_body();
    return std::move(found_);
}

}  // namespace

resolved_columns resolve(const table_plan& plan, const std::vector<column>& columns,
                         const domain_types& domains, const made_types& made) {
    return resolver(plan, columns, domains, made).run();
}

}  // namespace walrelay::outbox
