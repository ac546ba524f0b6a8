#include "outbox/row_view.hpp"

#include "core/bytea_text.hpp"
#include "outbox/header_value.hpp"

namespace walrelay::outbox {
namespace {

/// The row by its id, else by its position. An id can hold anything: it is cut, and encoded like a
/// header's value, so that it stays on one line.
std::string name_of_row(const row_view& view) {
    constexpr std::size_t longest_id_bytes = 128;
    const auto id = view.value(column_role::id);
    if (!id) {
        return "row at position " + to_string(view.where);
    }
    std::string name = "row id ";
    append_header_value(name, id->substr(0, longest_id_bytes));
    if (id->size() > longest_id_bytes) {
        name += "...";
    }
    return name;
}

}  // namespace

row_insert with_plain_byteas(const row_insert& row, const resolved_columns& columns,
                             std::vector<field>& kept) {
    auto plain = row;
    for (const auto index : columns.byteas) {
        const auto& value = row.fields[index];
        if (!value || !value->starts_with(bytea_mark)) {
            continue;
        }
        if (plain.fields.data() == row.fields.data()) {
            kept.assign(row.fields.begin(), row.fields.end());
            plain.fields = kept;
        }
        kept[index] = digits_of_bytea(*value);
    }
    return plain;
}

error unmappable(const row_view& view, std::string_view complaint, std::string remedy) {
    return {errc::row_unmappable,
            "table " + to_string(view.plan.table) + ", " + name_of_row(view) + ": " +
                std::string(complaint),
            std::move(remedy)};
}

error unmappable(const row_view& view, std::uint32_t column_index, std::string_view complaint,
                 std::string remedy) {
    const auto& name = view.row.table->columns[column_index].name;
    return unmappable(view, "column \"" + name + "\" " + std::string(complaint), std::move(remedy));
}

}  // namespace walrelay::outbox
