// What an [[outbox]] entry for a table could say.
#include "outbox/table_proposal.hpp"

#include "core/ascii.hpp"
#include "core/nearest.hpp"
#include "core/sql_text.hpp"
#include "core/type_oid.hpp"
#include "outbox/column_names.hpp"

#include <algorithm>
#include <span>
#include <string_view>

namespace walrelay::outbox {
namespace {

using names = std::span<const std::string_view>;

/// A large object's number: what it holds is not in the row.
constexpr type_oid large_object = 26;

bool has(names words, std::string_view word) {
    return std::ranges::find(words, word) != words.end();
}

/// As SQL writes it, with quotes only where they are needed.
std::string sql_name(const std::string& column) {
    const bool is_plain = std::ranges::all_of(
        column, [](char each) { return is_lower(each) || is_digit(each) || each == '_'; });
    return is_plain ? column : quote_identifier(column);
}

/// The texts in single quotes, and the numbers outside of them, of an expression that PostgreSQL
/// prints; what is cast to a type has that type's name after it.
std::vector<std::string> constants_in(std::string_view expression) {
    std::vector<std::string> found;
    while (!expression.empty()) {
        const char first = expression.front();
        std::size_t length = 1;
        if (first == '\'') {
            length = std::min(expression.find('\'', 1), expression.size() - 1) + 1;
            found.emplace_back(expression.substr(1, length - 2));
        } else if (is_digit(first) || first == '-') {
            length = std::min(expression.find_first_not_of("0123456789", 1), expression.size());
            found.emplace_back(expression.substr(0, length));
        } else if (is_letter(first)) {
            // The digits of int4 are none.
            length = std::min(expression.find_first_not_of("abcdefghijklmnopqrstuvwxyz"
                                                           "ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789"),
                              expression.size());
        }
        expression.remove_prefix(length);
    }
    return found;
}

class proposer {
public:
    explicit proposer(const proposal_input& from) : from_(from) {}

    table_proposal run() && {
        find_roles();
        make_subject();
        make_body();
        if (!find_status() && !find_flag()) {
            find_time();
        }
        return std::move(made_);
    }

private:
    [[nodiscard]] type_kind kind(const column& of) const { return kind_of(of.type, from_.domains); }
    [[nodiscard]] bool can_play(column_role role, const column& candidate) const;
    [[nodiscard]] bool is_taken(const std::string& name) const;
    [[nodiscard]] const column* named(column_role role, names candidates) const;
    void find_roles();
    void take(column_role role, const column* chosen);
    void find_role(column_role role);
    void find_version();
    void make_subject();
    void make_body();

    [[nodiscard]] const column_hint* hint_of(const std::string& name) const;
    [[nodiscard]] bool is_nullable(const std::string& name) const;
    [[nodiscard]] std::vector<std::string> values_of(const column& of) const;
    [[nodiscard]] const column* status_like(names candidates, bool (*suits)(type_kind)) const;
    [[nodiscard]] const column* time_column(names candidates) const;
    [[nodiscard]] std::string and_time() const;
    bool find_status();
    bool find_flag();
    void find_time();
    void set_status(const column& status, const std::string& waits, const std::string& done);

    const proposal_input& from_;
    table_proposal made_;
};

bool proposer::can_play(column_role role, const column& candidate) const {
    const auto what = kind(candidate);
    const bool is_word =
        what == type_kind::text && base_of(candidate.type, from_.domains) != large_object;
    switch (role) {
        case column_role::id:
        case column_role::aggregate_id:
            return what != type_kind::json && what != type_kind::timestamp &&
                   what != type_kind::boolean;
        case column_role::aggregate_type:
        case column_role::event_type:
            return is_word && candidate.type != oid::uuid;
        case column_role::payload:
            return (is_word && candidate.type != oid::uuid) || what == type_kind::json ||
                   what == type_kind::bytea;
        case column_role::metadata:
            return is_word || what == type_kind::json;
        case column_role::version:
            return what == type_kind::number;
        case column_role::created_at:
            return what == type_kind::timestamp;
    }
    return false;
}

bool proposer::is_taken(const std::string& name) const {
    return std::ranges::any_of(made_.roles, [&](const auto& each) { return each.second == name; });
}

/// The first of the candidates that the table has, is free, and can play the role.
const column* proposer::named(column_role role, names candidates) const {
    for (const auto candidate : candidates) {
        for (const column& each : from_.columns) {
            // The text of an event is its name, what is longer its content.
            const bool is_other_event = role == column_role::payload && candidate == "event" &&
                                        kind(each) == type_kind::text;
            if (folded_name(each.name) == candidate && !is_taken(each.name) &&
                can_play(role, each) && !is_other_event) {
                return &each;
            }
        }
    }
    return nullptr;
}

void proposer::take(column_role role, const column* chosen) {
    if (chosen != nullptr) {
        made_.roles.emplace_back(role, chosen->name);
        return;
    }
    // walrelay would take a column of the role's own name.
    const auto usual = to_string(role);
    const bool would_be_taken =
        std::ranges::any_of(from_.columns, [&](const column& each) { return each.name == usual; });
    if (would_be_taken && role != column_role::id) {
        made_.roles.emplace_back(role, "");
    }
}

void proposer::find_role(column_role role) {
    if (const auto& configured = configured_column(from_.configured, role)) {
        made_.roles.emplace_back(role, *configured);
        return;
    }
    take(role, named(role, names_of(role)));
}

/// A version counts the changes of an aggregate; others count attempts, or lock a row.
void proposer::find_version() {
    const bool has_aggregate = made_.column_of(column_role::aggregate_id) != nullptr;
    if (has_aggregate || configured_column(from_.configured, column_role::version)) {
        find_role(column_role::version);
    } else {
        take(column_role::version, nullptr);
    }
}

void proposer::find_roles() {
    for (const auto role : all_roles) {
        if (role == column_role::version) {
            find_version();
            continue;
        }
        const auto& configured = configured_column(from_.configured, role);
        if (role == column_role::aggregate_type && !configured) {
            const auto* chosen = named(role, names_of(role));
            // Beside the type of the payload, a type is the aggregate's.
            constexpr std::string_view payload_type[] = {"payloadtype"};
            constexpr std::string_view type[] = {"type"};
            if (chosen == nullptr && named(column_role::event_type, payload_type) != nullptr) {
                chosen = named(role, type);
            }
            take(role, chosen);
            continue;
        }
        find_role(role);
    }
}

void proposer::make_subject() {
    made_.subject = "events";
    for (const auto role : {column_role::aggregate_type, column_role::event_type}) {
        if (const auto* const name = made_.column_of(role)) {
            const bool can_be_null = is_nullable(*name);
            made_.subject += ".{" + std::string(to_string(role)) + (can_be_null ? "|'none'}" : "}");
            if (can_be_null) {
                made_.nullable.push_back(*name);
            }
        }
    }
    made_.subject += made_.subject == "events" ? '.' + from_.table.name : "";
}

/// Bytes that nobody knows are JSON go as they are.
void proposer::make_body() {
    const auto* const payload = made_.column_of(column_role::payload);
    const bool is_bytes =
        payload != nullptr && std::ranges::any_of(from_.columns, [&](const column& each) {
            return each.name == *payload && kind(each) == type_kind::bytea;
        });
    made_.body = is_bytes ? body_format::payload : body_format::event;
}

const column_hint* proposer::hint_of(const std::string& name) const {
    const auto found = std::ranges::find(from_.hints, name, &column_hint::name);
    return found == from_.hints.end() ? nullptr : &*found;
}

bool proposer::is_nullable(const std::string& name) const {
    const auto* const hint = hint_of(name);
    return hint != nullptr && hint->nullable;
}

std::vector<std::string> proposer::values_of(const column& of) const {
    const auto* const hint = hint_of(of.name);
    if (hint == nullptr) {
        return {};
    }
    auto values = hint->labels;
    for (const auto& check : hint->checks) {
        const auto constants = constants_in(check);
        values.insert(values.end(), constants.begin(), constants.end());
    }
    return values;
}

const column* proposer::status_like(names candidates, bool (*suits)(type_kind)) const {
    for (const auto candidate : candidates) {
        for (const column& each : from_.columns) {
            if (folded_name(each.name) == candidate && suits(kind(each))) {
                return &each;
            }
        }
    }
    return nullptr;
}

/// Of one that always has a value, the time says nothing of whether a row is sent.
const column* proposer::time_column(names candidates) const {
    for (const auto candidate : candidates) {
        for (const column& each : from_.columns) {
            const auto* const hint = hint_of(each.name);
            if (folded_name(each.name) == candidate && kind(each) == type_kind::timestamp &&
                (hint == nullptr || hint->nullable)) {
                return &each;
            }
        }
    }
    return nullptr;
}

std::string proposer::and_time() const {
    const auto* const time = time_column(time_names());
    return time == nullptr ? "" : ", " + sql_name(time->name) + " = now()";
}

/// The values as SQL.
void proposer::set_status(const column& status, const std::string& waits, const std::string& done) {
    made_.status_column = status.name;
    const auto name = sql_name(status.name);
    made_.pending = waits.empty() ? "" : name + " = " + waits;
    made_.on_published = done.empty() ? "" : name + " = " + done + and_time();
}

bool proposer::find_status() {
    const auto* const status = status_like(status_names(), [](type_kind what) {
        return what == type_kind::text || what == type_kind::number;
    });
    if (status == nullptr) {
        return false;
    }
    const bool is_number = kind(*status) == type_kind::number;
    const auto* const hint = hint_of(status->name);
    const auto by_default =
        hint == nullptr ? std::vector<std::string>{} : constants_in(hint->default_value);
    const auto values = values_of(*status);
    const auto of_words = [&values](names words) {
        const auto found =
            std::ranges::find_if(values, [&](const auto& each) { return has(words, lower(each)); });
        return found == values.end() ? "" : *found;
    };
    auto waits = by_default.empty() ? of_words(pending_words()) : by_default.front();
    auto done = of_words(sent_words());
    made_.knows_values = !waits.empty() && !done.empty();
    if (!is_number && values.empty()) {
        waits = waits.empty() ? "pending" : waits;
        done = "published";
    }
    const auto as_sql = [is_number](const std::string& text) {
        return is_number || text.empty() ? text : quote_literal(text);
    };
    set_status(*status, as_sql(waits), as_sql(done));
    made_.republish_value = waits;
    return true;
}

bool proposer::find_flag() {
    const auto* const flag =
        status_like(flag_names(), [](type_kind what) { return what == type_kind::boolean; });
    if (flag != nullptr) {
        set_status(*flag, "", "true");
        made_.pending = "NOT " + sql_name(flag->name);
        made_.republish_value = "f";
        made_.knows_values = true;
        return true;
    }
    const auto* const number =
        status_like(flag_names(), [](type_kind what) { return what == type_kind::number; });
    if (number != nullptr) {
        set_status(*number, "0", "1");
        made_.republish_value = "0";
    }
    return number != nullptr;
}

void proposer::find_time() {
    const auto* const time = time_column(time_names());
    if (time == nullptr) {
        return;
    }
    const auto name = sql_name(time->name);
    made_.status_column = time->name;
    made_.pending = name + " IS NULL";
    made_.on_published = name + " = now()";
    made_.republishes_null = true;
    made_.knows_values = true;
    if (const auto* const given_up = time_column(given_up_names())) {
        made_.pending += " AND " + sql_name(given_up->name) + " IS NULL";
    }
}

}  // namespace

const std::string* table_proposal::column_of(column_role role) const {
    const auto found =
        std::ranges::find_if(roles, [role](const auto& each) { return each.first == role; });
    return found == roles.end() || found->second.empty() ? nullptr : &found->second;
}

table_proposal propose(const proposal_input& from) {
    return proposer(from).run();
}

bool looks_like_outbox(const table_name& table, const table_proposal& proposed) {
    constexpr std::string_view usual[] = {"outbox", "event",    "message",
                                          "publi",  "envelope", "queue"};
    const auto name = folded_name(table.name);
    const bool is_named_so = std::ranges::any_of(
        usual, [&](std::string_view each) { return name.find(each) != std::string::npos; });
    const bool tells_of_events = proposed.column_of(column_role::aggregate_type) != nullptr ||
                                 proposed.column_of(column_role::aggregate_id) != nullptr ||
                                 proposed.column_of(column_role::metadata) != nullptr;
    return (is_named_so || tells_of_events) && proposed.column_of(column_role::id) != nullptr &&
           proposed.column_of(column_role::payload) != nullptr;
}

}  // namespace walrelay::outbox
