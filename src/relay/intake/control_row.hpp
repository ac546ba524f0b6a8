// A row of walrelay.control (sql/control.sql): what walrelay says to its relays through the WAL, so
// that it has a place in the order of commits like every event. Whether who may wrote it is
// control_proof's matter; all the same each of its values is checked. Pure.
#pragma once

#include "core/change.hpp"
#include "core/error.hpp"
#include "core/occasion.hpp"
#include "core/outbox_table.hpp"
#include "relay/intake/row_json.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace walrelay::relay {

/// A row as the table has it. Views into the row it was read from.
struct control_row {
    field kind;
    field slot;
    field dead_letter;
    field retry;
    field source_schema;
    field source_table;
    field event;
    field replay;
    field position;
    field committed_at;
    field subject;
    /// pg_current_xact_id() of whoever wrote it, and what proves that it may (control_proof.hpp).
    field transaction;
    field proof;
};

/// What is missing in the row, or no text, is nothing.
[[nodiscard]] control_row read_control(const row_insert& row);

/// Which retry it asks for; nothing where its numbers are not those of one.
[[nodiscard]] std::optional<letter_retry> retry_of(const control_row& row);

/// The row of a dead letter that is to be published again.
class retry_request {
public:
    /// `revision` as for core/change.hpp's relation. Errors: row_unmappable, where the table, the
    /// numbers or the event are anything else than `walrelay dead-letter retry` writes.
    [[nodiscard]] static result<retry_request> parse(const control_row& row,
                                                     std::uint64_t revision);

    [[nodiscard]] table_name table() const { return {row_.table().schema, row_.table().name}; }
    /// Follows the message id, after a semicolon: `retry-<dead letter>-<count>`.
    [[nodiscard]] const std::string& occasion() const { return occasion_; }
    /// Views into this object.
    [[nodiscard]] row_insert row() const { return row_.row(); }

private:
    retry_request(kept_json_row row, std::string occasion)
        : row_(std::move(row)), occasion_(std::move(occasion)) {}

    kept_json_row row_;
    std::string occasion_;
};

/// What makes a replayed row's message another than that of the row itself.
struct replay_mark {
    /// As `walrelay replay list` shows it.
    std::uint64_t number = 0;
    /// The text of the row's own position; empty for a row that was read from its table.
    std::string position = {};
    /// When the row was committed; that of the control row where it is not known.
    std::optional<wall_time> committed_at = {};
    /// `{subject}` in it stands for the subject that the row has; empty: that one.
    std::string subject = {};
};

/// A row of earlier that is to be published again.
class replay_request {
public:
    /// As retry_request::parse, for what `walrelay replay` writes.
    [[nodiscard]] static result<replay_request> parse(const control_row& row,
                                                      std::uint64_t revision);

    [[nodiscard]] table_name table() const { return {row_.table().schema, row_.table().name}; }
    /// `replay-<number>-<position>`, of a row that was read from its table `replay-<number>`.
    [[nodiscard]] const std::string& occasion() const { return occasion_; }
    [[nodiscard]] row_insert row() const { return row_.row(); }
    [[nodiscard]] const replay_mark& mark() const { return mark_; }

private:
    replay_request(kept_json_row row, replay_mark mark);

    kept_json_row row_;
    replay_mark mark_;
    std::string occasion_;
};

/// Whether the text can be the subject of a replayed row, where `{subject}` stands for one: tokens
/// of printable ASCII without blank, `*` and `>`, none of them empty, and nothing that the server
/// keeps for itself ($JS.API and its kind, inboxes).
[[nodiscard]] bool is_replay_subject(std::string_view text);
/// The template with each `{subject}` replaced.
[[nodiscard]] std::string replayed_subject(std::string_view pattern, std::string_view subject);

}  // namespace walrelay::relay
