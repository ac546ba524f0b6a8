// A row of an outbox table, built column by column, and the message that it becomes.
#pragma once

#include "core/change.hpp"
#include "core/message.hpp"
#include "core/outbox_table.hpp"
#include "outbox/table_mapper.hpp"

#include <deque>
#include <optional>
#include <string>
#include <vector>

namespace walrelay::test {

namespace type {
inline constexpr type_oid boolean = 16;
inline constexpr type_oid bytea = 17;
inline constexpr type_oid int8 = 20;
inline constexpr type_oid text = 25;
inline constexpr type_oid json = 114;
inline constexpr type_oid float8 = 701;
inline constexpr type_oid varchar = 1043;
inline constexpr type_oid date = 1082;
inline constexpr type_oid timestamp = 1114;
inline constexpr type_oid timestamptz = 1184;
inline constexpr type_oid numeric = 1700;
inline constexpr type_oid uuid = 2950;
inline constexpr type_oid jsonb = 3802;
}  // namespace type

/// Neither copied nor moved: a row_insert refers to it.
class sample_row {
public:
    sample_row();
    sample_row(const sample_row&) = delete;
    sample_row& operator=(const sample_row&) = delete;

    /// Adds a column behind the others, or gives the column of that name another value.
    sample_row& with(const std::string& name, type_oid type, std::optional<std::string> value);
    sample_row& revised(std::uint64_t revision);

    [[nodiscard]] row_insert insert() const { return {&table_, fields_}; }
    [[nodiscard]] const std::vector<column>& columns() const { return table_.columns; }

private:
    relation table_;
    std::deque<std::optional<std::string>> values_;  // a deque keeps its elements where they are
    std::vector<field> fields_;
};

/// Fills in id 42, aggregate "order" "7", event "placed", jsonb data and metadata, version 3 and
/// created_at in the order in which a table might have them.
void fill_usual(sample_row& row);

/// public.outbox_events with the defaults.
[[nodiscard]] outbox_table usual_table();

/// A message at a fixed position and time, as a mapper is given it.
[[nodiscard]] message fresh_message();
inline constexpr const char* fresh_position = "7301.2.00000001000000A0.0000000100000050.5";

/// Maps with a mapper of its own; throws where the mapper refuses.
[[nodiscard]] message map_row(const outbox_table& table, const sample_row& row);

/// What the mapper refuses the row with; empty if it takes it.
[[nodiscard]] std::string refusal(const outbox_table& table, const sample_row& row);

/// The value of the header, or nothing; more than one of a name throws.
[[nodiscard]] std::optional<std::string> header_of(const message& sent, std::string_view name);

/// The names of all headers in their order.
[[nodiscard]] std::vector<std::string> header_names(const message& sent);

}  // namespace walrelay::test
