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

void removed_rows::choose(std::uint64_t from_the_beginning, std::uint64_t from_the_middle) {
    for (const auto& table : tables_) {
        const auto older_end = older_end_of(table);
        for (auto row = table.begin; row < table.end; ++row) {
            if (!open_[row]) {
                continue;
            }
            const bool is_old = table.first_stored ? row < older_end : was_stored_[row];
            if (is_old && from_the_beginning > 0) {
                --from_the_beginning;
            } else if (was_stored_[row] && from_the_middle > 0) {
                --from_the_middle;
            } else {
                open_[row] = false;
            }
        }
    }
}

bool removed_rows::has(const record& row) const {
    return open_.at(index_of(row));
}

}  // namespace walrelay::audit
