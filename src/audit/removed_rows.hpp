// Which rows that are in no message can have been in one of those that were removed from the
// stream. From its beginning limits, and a purge, take the oldest messages, which are of the oldest
// rows. From its middle a limit for each subject takes any: there only a row that is known to have
// been stored can have been in one.
//
//     add*, { is_stored }*, { is_open }*, choose, has*
//
// Rows are told by the numbers that the auditor gives them, from 1 on and table by table. Three
// bits of memory for each.
#pragma once

#include "audit/record.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace walrelay::audit {

/// What is known of the time of a row.
struct row_age {
    /// The row before it, in the order of the table, was not created at the same time. False for
    /// all rows of a table whose order says nothing of time.
    bool begins_a_time = false;
    /// It is known to have been stored.
    bool was_stored = false;
};

/// How many of the rows from `begin` to `row`, in the order of time, are older than `row`: of rows
/// of one time nobody knows which came first. Rows are counted from 0.
[[nodiscard]] std::uint64_t older_than(const std::vector<bool>& begins_a_time, std::uint64_t row,
                                       std::uint64_t begin = 0);

class removed_rows {
public:
    explicit removed_rows(std::size_t tables) : tables_(tables) {}

    /// The next row.
    void add(std::uint32_t table, row_age age);
    /// A message that the stream has stands for the row.
    void is_stored(const record& row);
    /// Nothing stands for it.
    void is_open(const record& row);

    /// So many messages were removed: no more open rows than that are chosen, and where there are
    /// more, some are lost, whichever they are. For those of the stream's beginning the oldest ones
    /// of each table, table by table: of a table of which the stream has rows, those that are older
    /// than all of them; of another one, those that are known to have been stored. For those of the
    /// middle such rows as well, whatever their age.
    void choose(std::uint64_t from_the_beginning, std::uint64_t from_the_middle);
    /// Once they are chosen.
    [[nodiscard]] bool has(const record& row) const;

private:
    struct table_state {
        std::uint64_t begin = 0;
        std::uint64_t end = 0;
        std::optional<std::uint64_t> first_stored;
    };
    [[nodiscard]] static std::uint64_t index_of(const record& row) { return row.number - 1; }
    [[nodiscard]] std::uint64_t older_end_of(const table_state& table) const;

    std::vector<table_state> tables_;
    std::vector<bool> begins_a_time_;
    std::vector<bool> was_stored_;
    /// From then on: and chosen.
    std::vector<bool> open_;
};

}  // namespace walrelay::audit
