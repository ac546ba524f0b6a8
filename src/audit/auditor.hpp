// Compares rows with messages by message id. Takes both one by one, in any number: what it has to
// remember of them is on the disk, and a bucket of it at a time in memory.
//
//     add_row*, add_message*, set_history?, sift, { add_message, add_dead_letter }*, conclude
//
// Sifting finds what is settled already; what comes afterwards only settles rows that are still
// open. Knows no server, and not how long one waits for open rows.
#pragma once

#include "audit/bucket_store.hpp"
#include "audit/first_few.hpp"
#include "audit/id_facts.hpp"
#include "audit/order_check.hpp"
#include "audit/removed_rows.hpp"
#include "audit/report.hpp"
#include "audit/spill_file.hpp"
#include "core/error.hpp"
#include "core/lineage.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace walrelay::audit {

struct audit_options {
    /// Where the temporary file is made.
    std::filesystem::path folder;
    /// For the findings; a table's number is its index.
    std::vector<std::string> tables;
    /// As far as one can know: they decide on the number of buckets.
    std::uint64_t expected_rows = 0;
    std::uint64_t expected_messages = 0;
    /// How many findings of each kind are named.
    std::size_t named_limit = 20;
    /// Others write into the stream, too: their messages are no findings, and neither is the order,
    /// which holds for each aggregate alone, and a message does not tell its aggregate.
    bool others_write = false;
    /// Not all rows are added, so that a message without a row may have one.
    bool some_rows = false;
    /// What stands in the stream before the first message whose position is not before this one is
    /// no finding. It is there all the same: the row of its id is not missing.
    lsn since = {};
    /// A bucket that is larger is split before it is compared. In memory it takes about three times
    /// as much.
    std::uint64_t bucket_bytes = 12UL * 1024 * 1024;
    std::size_t chunk_bytes = 16UL * 1024;
    /// Rows are no findings whose messages can have been removed from the stream's beginning. The
    /// rows are added table by table then.
    bool excuses_removed = false;
};

/// A header that the message does not have is empty.
struct streamed_message {
    std::uint64_t sequence = 0;
    std::string_view subject = {};
    std::string_view id = {};
    std::string_view position = {};
};

class auditor {
public:
    /// Errors here and below: temporary_file.
    [[nodiscard]] static result<std::unique_ptr<auditor>> make(audit_options options);

    [[nodiscard]] result<void> add_row(std::uint32_t table, std::string_view id, row_age age = {});
    /// A row that has no message id, for `reason`: only a dead letter without one can stand for it.
    void add_row_without_id(std::uint32_t table, std::string_view reason, row_age age = {});

    /// In the order of the stream.
    [[nodiscard]] result<void> add_message(const streamed_message& one);

    /// So many messages have been removed from the stream's beginning, where rows are excused.
    /// Where messages are replaced, those that are gone from between others count as well.
    void expect_removed(std::uint64_t messages, bool are_replaced = false) {
        removed_messages_ = messages;
        are_replaced_ = are_replaced;
    }

    /// What the database is now, read after the messages, so that none of them can be newer.
    /// Without it no message counts as orphaned.
    void set_history(lineage line, lsn wal_end);

    /// Compares what was added. No row can be added afterwards.
    [[nodiscard]] result<void> sift();
    /// Rows that sifting found in no message. What is added later does not lower it.
    [[nodiscard]] std::uint64_t open_rows() const { return open_rows_; }
    /// Whether it is worth while to conclude now: all open rows seem to be settled. Where there are
    /// too many to tell, it stays false.
    [[nodiscard]] bool seems_settled() const;

    /// It stands for a row of its own table. `table` is nothing where that is none of those that
    /// are compared, as after a renaming: then for any row of its id.
    [[nodiscard]] result<void> add_dead_letter(std::optional<std::uint32_t> table,
                                               std::string_view id);

    /// The slot still brings the row of this id: it is undelivered, whatever the others are.
    [[nodiscard]] result<void> add_awaited(std::string_view id);
    /// The same of a row of this table that has none.
    void add_awaited_without_id(std::uint32_t table) { ++without_id_.at(table).awaited; }

    /// Rows that are still open become findings of the kind `open_ones`.
    [[nodiscard]] result<report> conclude(finding_kind open_ones);

    [[nodiscard]] std::uint64_t rows_read() const { return report_.rows; }
    [[nodiscard]] std::uint64_t messages_read() const { return report_.messages; }

private:
    struct rows_without_id {
        std::uint64_t rows = 0;
        std::uint64_t dead_letters = 0;
        std::uint64_t awaited = 0;
        std::string first_reason = {};
    };

    auditor(audit_options options, spill_file file);
    [[nodiscard]] bucket_store& current() { return open_ ? *open_ : gathered_; }
    void follow_sequence(std::uint64_t sequence);
    [[nodiscard]] result<void> add_copy(const record& kept);
    [[nodiscard]] result<void> add_stranger(const streamed_message& one, bool has_position);
    void note_foreign(const streamed_message& one, std::string_view what);
    void note_strangers(std::string_view id, const id_facts& facts);
    void note_disorder(const streamed_message& one, const order_check::message_before& before);
    void note_twice(std::string_view id, const id_facts& facts, std::uint64_t extra);
    [[nodiscard]] bool is_orphan(const record& message) const;
    /// Of the messages of an id; returns how many are orphaned.
    [[nodiscard]] std::uint64_t note_orphans(std::string_view id, const id_facts& facts);
    [[nodiscard]] result<void> add_republications(record one);
    [[nodiscard]] result<void> sift_id(std::string_view id, id_facts& facts);
    [[nodiscard]] result<void> sift_row(const record& row, id_facts& facts);
    void add_unseen(std::string_view id);
    /// With the facts that sifting has left over, of which `next_holder` is to be asked.
    [[nodiscard]] result<void> for_each_open_row(
        const std::function<void(const record& row, id_facts& facts)>& visit);
    void note_open(const record& row, const id_facts& facts, finding_kind kind);
    [[nodiscard]] result<void> choose_removed(finding_kind open_ones);
    void conclude_row(const record& row, id_facts& facts, finding_kind open_ones);
    void conclude_rows_without_id(finding_kind open_ones);
    void note_rows_without_id(std::size_t table, std::uint64_t rows, finding_kind kind);
    void forget_unseen(std::string_view id);
    [[nodiscard]] std::string position_of(const record& message) const;
    void note(finding_kind kind, std::uint64_t count) { report_.of(kind).count += count; }
    [[nodiscard]] first_few& named(finding_kind kind) {
        return named_[static_cast<std::size_t>(kind)];
    }

    audit_options options_;
    spill_file file_;
    bucket_store gathered_;
    std::optional<bucket_store> open_;
    order_check order_;
    std::optional<lineage> line_;
    lsn wal_end_;
    report report_;
    std::vector<first_few> named_;
    std::vector<rows_without_id> without_id_;
    std::optional<removed_rows> removed_;
    std::uint64_t removed_messages_ = 0;
    bool are_replaced_ = false;
    /// What is compared has begun in the stream.
    bool begun_;
    std::uint64_t last_sequence_ = 0;
    std::uint64_t open_rows_ = 0;
    std::uint64_t rowless_with_semicolon_ = 0;
    /// Hashes of the ids of open rows, as long as there are not too many.
    std::unordered_set<std::uint64_t> unseen_;
    bool unseen_is_whole_ = true;
};

}  // namespace walrelay::audit
