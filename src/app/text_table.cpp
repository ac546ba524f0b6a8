#include "app/text_table.hpp"

#include "core/one_line.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

namespace walrelay::app {
namespace {

/// Of UTF-8: bytes that go on with a character take no place of their own.
std::size_t width_of(std::string_view text) {
    constexpr unsigned char mask = 0xC0;
    constexpr unsigned char continuation = 0x80;
    return static_cast<std::size_t>(std::ranges::count_if(
        text, [](char each) { return (static_cast<unsigned char>(each) & mask) != continuation; }));
}

using line = std::vector<std::string>;

std::vector<line> lines_of(const postgres::row_set& rows) {
    std::vector<line> lines{rows.column_names()};
    for (const auto& row : rows.rows()) {
        line cells;
        for (const auto& cell : row) {
            cells.push_back(one_line(cell.value_or("")));
        }
        lines.push_back(std::move(cells));
    }
    return lines;
}

}  // namespace

std::string text_table(const postgres::row_set& rows) {
    const auto lines = lines_of(rows);
    std::vector<std::size_t> widths(rows.column_names().size(), 0);
    for (const auto& cells : lines) {
        for (std::size_t column = 0; column < cells.size(); ++column) {
            widths[column] = std::max(widths[column], width_of(cells[column]));
        }
    }
    std::string out;
    for (const auto& cells : lines) {
        for (std::size_t column = 0; column < cells.size(); ++column) {
            out += cells[column];
            if (column + 1 < cells.size()) {
                out.append(widths[column] - width_of(cells[column]) + 2, ' ');
            }
        }
        out += '\n';
    }
    return out;
}

}  // namespace walrelay::app
