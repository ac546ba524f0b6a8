#include "app/text_table.hpp"

#include "core/one_line.hpp"
#include "core/utf8.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

namespace walrelay::app {
namespace {

/// Of UTF-8: bytes that go on with a character take no place of their own.
std::size_t width_of(std::string_view text) {
    return static_cast<std::size_t>(
        std::ranges::count_if(text, [](char each) { return !continues_a_character(each); }));
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

/// Takes from the widest column until all fit, or none has more than the least.
void narrow(std::vector<std::size_t>& widths, std::size_t allowed) {
    constexpr std::size_t least = 8;
    constexpr std::size_t between = 2;
    auto all = between * (widths.size() - std::min<std::size_t>(widths.size(), 1));
    for (const auto width : widths) {
        all += width;
    }
    while (all > allowed) {
        const auto widest = std::ranges::max_element(widths);
        if (widest == widths.end() || *widest <= least) {
            return;
        }
        --*widest;
        --all;
    }
}

/// At most `width` characters of it, the last one "…" where some are left out.
std::string shortened(const std::string& text, std::size_t width) {
    if (width_of(text) <= width) {
        return text;
    }
    std::size_t end = 0;
    for (std::size_t shown = 0; shown + 1 < width; ++shown) {
        do {
            ++end;
        } while (end < text.size() && width_of(std::string_view(text).substr(end, 1)) == 0);
    }
    return text.substr(0, end) + "…";
}

}  // namespace

std::string text_table(const postgres::row_set& rows, std::optional<std::size_t> width) {
    const auto lines = lines_of(rows);
    std::vector<std::size_t> widths(rows.column_names().size(), 0);
    for (const auto& cells : lines) {
        for (std::size_t column = 0; column < cells.size(); ++column) {
            widths[column] = std::max(widths[column], width_of(cells[column]));
        }
    }
    if (width) {
        narrow(widths, *width);
    }
    std::string out;
    for (const auto& cells : lines) {
        for (std::size_t column = 0; column < cells.size(); ++column) {
            const auto cell = shortened(cells[column], widths[column]);
            out += cell;
            if (column + 1 < cells.size()) {
                out.append(widths[column] - width_of(cell) + 2, ' ');
            }
        }
        out += '\n';
    }
    return out;
}

}  // namespace walrelay::app
