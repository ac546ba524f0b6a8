// How one outbox table becomes messages: the configuration's [[outbox]] entry in plain values.
// The configuration fills it, `outbox` obeys it, the checks look at it.
#pragma once

#include <chrono>
#include <compare>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace walrelay {

/// A table's name as the catalog holds it: unquoted, case as it is.
struct table_name {
    std::string schema;
    std::string name;

    friend auto operator<=>(const table_name&, const table_name&) = default;
};

/// `schema.name` for people. Not quoted: never to be used in SQL.
[[nodiscard]] inline std::string to_string(const table_name& table) {
    return table.schema + "." + table.name;
}

enum class body_format { event, payload, cloudevents, protobuf };

/// Which column plays which role. A role that is set must be there; one that is not set is played
/// by the column of the default name where the table has it, and by none where not.
struct outbox_columns {
    std::optional<std::string> id;
    std::optional<std::string> aggregate_type;
    std::optional<std::string> aggregate_id;
    std::optional<std::string> event_type;
    std::optional<std::string> payload;  // default name event_data, else payload
    std::optional<std::string> metadata;
    std::optional<std::string> version;
    std::optional<std::string> created_at;
};

/// The name that rows of logical messages go by in place of a table's. No table has it: PostgreSQL
/// keeps schemas that begin with pg_ for itself.
[[nodiscard]] inline table_name message_source(const std::string& prefix) {
    return {"pg_logical_message", prefix};
}
[[nodiscard]] inline bool is_message_source(const table_name& name) {
    return name.schema == message_source({}).schema;
}

/// An UPDATE that sets the column to the value publishes the row again.
struct republish_rule {
    std::string column;                // as the catalog holds it
    std::optional<std::string> value;  // as PostgreSQL prints it; nothing: NULL
};

struct outbox_table {
    table_name table;
    /// Rows are what writers put into the WAL with pg_logical_emit_message(true, <this>, <object>),
    /// and `table` is message_source of it. Empty: rows are those of a table.
    std::string message_prefix = {};
    outbox_columns columns = {};
    /// Templates: text with `{name}`, where the name is a role's or a column's.
    std::string subject = "events.{aggregate_type}.{event_type}";
    std::string message_id = "{id}";
    body_format body = body_format::event;
    /// A row without payload is an empty message with a header that says so, where the body is the
    /// payload alone; else it cannot be mapped.
    bool keeps_tombstones = false;
    /// Header name and template of its value, in the order of the configuration.
    std::vector<std::pair<std::string, std::string>> headers = {};
    /// SQL predicate of the rows that are still to send; empty: none is known.
    std::string pending = {};
    std::optional<republish_rule> republish = std::nullopt;
    /// SQL SET list, run for rows whose messages are acked; empty: nothing is written back.
    std::string on_published = {};
    /// The same for rows that became dead letters. `{error}` and `{attempts}` stand outside of
    /// quotes, each for a value.
    std::string on_dead_letter = {};
    /// How long after their ack rows are deleted; nothing: they are kept.
    std::optional<std::chrono::milliseconds> delete_after = std::nullopt;

    [[nodiscard]] bool is_tableless() const { return !message_prefix.empty(); }
    [[nodiscard]] bool deletes_at_once() const {
        return delete_after == std::chrono::milliseconds(0);
    }
    /// Whether an UPDATE of walrelay's own is run on rows.
    [[nodiscard]] bool updates_rows() const {
        return !on_published.empty() || !on_dead_letter.empty();
    }
    /// Whether something is done to a row as soon as its message is acked.
    [[nodiscard]] bool writes_back() const { return !on_published.empty() || deletes_at_once(); }
    /// Whether rows are changed or read in their tables before the slot is told of them, for which
    /// the transactions that wrote them must be visible.
    [[nodiscard]] bool needs_visible_rows() const {
        return updates_rows() || deletes_at_once() || republish.has_value();
    }
};

}  // namespace walrelay
