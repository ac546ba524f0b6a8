#include "audit/removed_rows.hpp"

#include <algorithm>

namespace walrelay::audit {

std::uint64_t older_than(const std::vector<bool>& begins_a_time, std::uint64_t row,
                         std::uint64_t begin) {
    while (row > begin && !begins_a_time[row]) {
        --row;
    }
    return row - begin;
}

void removed_rows::add(std::uint32_t table, row_age age) {
    auto& here = tables_.at(table);
    if (here.end == 0) {
        here.begin = begins_a_time_.size();
    }
    begins_a_time_.push_back(age.begins_a_time);
    was_stored_.push_back(age.was_stored);
    open_.push_back(false);
    here.end = begins_a_time_.size();
}

void removed_rows::is_stored(const record& row) {
    auto& first = tables_.at(row.group).first_stored;
    first = std::min(first.value_or(index_of(row)), index_of(row));
}

void removed_rows::is_open(const record& row) {
    open_.at(index_of(row)) = true;
}

std::uint64_t removed_rows::older_end_of(const table_state& table) const {
    return table.first_stored
               ? table.begin + older_than(begins_a_time_, *table.first_stored, table.begin)
               : table.begin;
}

bool removed_rows::can_be(const table_state& table, std::uint64_t older_end,
                          std::uint64_t row) const {
    return table.first_stored ? row < older_end : was_stored_[row];
}

void removed_rows::choose(std::uint64_t messages) {
    for (auto& table : tables_) {
        const auto older_end = older_end_of(table);
        table.chosen_until = table.begin;
        for (auto row = table.begin; row < table.end && messages > 0; ++row) {
            if (open_[row] && can_be(table, older_end, row)) {
                --messages;
                table.chosen_until = row + 1;
            }
        }
    }
}

bool removed_rows::has(const record& row) const {
    const auto& table = tables_.at(row.group);
    const auto index = index_of(row);
    return index < table.chosen_until && open_.at(index) &&
           can_be(table, older_end_of(table), index);
}

}  // namespace walrelay::audit
