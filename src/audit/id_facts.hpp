// What a bucket's records say of each id, gathered from all of them.
#pragma once

#include "audit/bucket_store.hpp"

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

namespace walrelay::audit {

/// The group of a dead letter that may be of any table.
inline constexpr std::uint32_t any_table = UINT32_MAX;

/// What stands for a row; `slot` where it will be sent.
enum class row_holder : std::uint8_t { nothing, message, dead_letter, slot };

struct id_facts {
    /// Of the records of this id, those of one table.
    struct table_share {
        std::uint32_t table = 0;
        std::uint64_t rows = 0;
        std::uint64_t dead_letters = 0;
        /// Rows that `next_holder` has answered for.
        std::uint64_t answered = 0;
    };

    std::uint64_t rows = 0;
    record last_row = {};
    std::uint64_t messages = 0;
    std::uint64_t strangers = 0;
    std::uint64_t earlier = 0;
    /// Of these three kinds.
    record first_message = {};
    record last_message = {};
    std::uint64_t republications = 0;
    std::uint64_t dead_letters = 0;
    std::uint64_t awaited = 0;
    /// Empty where there is one row and no dead letter, as with nearly all ids.
    std::vector<table_share> shares = {};
    /// Rows that `next_holder` has answered for, and what it has given to them.
    std::uint64_t answered = 0;
    std::uint64_t given = 0;

    /// All that have the row's id: it is in the stream, whoever sent it.
    [[nodiscard]] std::uint64_t copies() const { return messages + strangers + earlier; }
    /// With those that publish it again.
    [[nodiscard]] std::uint64_t all_copies() const { return copies() + republications; }
    [[nodiscard]] std::uint64_t unanswered() const { return rows - answered; }
    /// Rows that a dead letter can stand for: one stands for a row of its own table only.
    [[nodiscard]] std::uint64_t lettered_rows() const;
    /// What stands for the next row of this id, which is one of `table`. Rows are asked for in the
    /// order in which they were added, all of them. Where several have one id, the first is
    /// published and the later ones become dead letters: so the dead letters are those of the last
    /// rows of their table, and the messages those of the first of the others.
    [[nodiscard]] row_holder next_holder(std::uint32_t table);
};

/// The id is empty in each record of `facts`.
using id_visitor = std::function<result<void>(std::string_view id, id_facts& facts)>;
using row_visitor = std::function<result<void>(const record& row, id_facts& facts)>;

/// Calls `visit` with every id of the store once, until it fails. A bucket of more than
/// `bucket_bytes` is split by further bits of the hash first, by way of `file`. Then `visit_row`,
/// where there is one, with each row of an id that has several, in the order in which they were
/// added: they are read from the disk once more, so that no number of them takes memory. Errors:
/// temporary_file and those of the visitors.
[[nodiscard]] result<void> for_each_id(const bucket_store& store, spill_file& file,
                                       std::uint64_t bucket_bytes, const id_visitor& visit,
                                       const row_visitor& visit_row = {});

}  // namespace walrelay::audit
