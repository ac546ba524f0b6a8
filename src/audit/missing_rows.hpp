// Which rows of a table are in no message, and which are: a few bits for each row, found by message
// id with a bucket of ids at a time in memory.
//
//     { add_row, add_row_without_id }*, { add_message, add_dead_letter }*, find, then the questions
//
// Rows are counted as they come, from 0 for each table; whoever reads them a second time in the
// same order knows by the count which are missing. Knows no server.
#pragma once

#include "audit/bucket_store.hpp"
#include "audit/id_facts.hpp"
#include "audit/spill_file.hpp"
#include "core/error.hpp"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

namespace walrelay::audit {

struct missing_rows_options {
    /// Where the temporary file is made.
    std::filesystem::path folder;
    std::size_t tables = 0;
    /// As far as one can know: they decide on the number of buckets.
    std::uint64_t expected_rows = 0;
    std::uint64_t expected_messages = 0;
    std::uint64_t bucket_bytes = 12UL * 1024 * 1024;
};

/// Rows that follow each other and are all missing, or all published.
struct row_run {
    std::uint64_t first = 0;
    std::uint64_t length = 0;
    bool published = false;
};

/// What is known of a row besides its id.
struct row_traits {
    /// It is still to be written back: where it is published, that is all that it lacks.
    bool is_pending = true;
    /// The row before it, in the order of the table, was not created at the same time.
    bool begins_a_time = true;
};

/// Which missing rows are not to be published: those that the stream may have had, or need not
/// have.
struct excuse {
    /// Rows that are still pending count as missing all the same.
    bool but_pending = false;
    /// Not more than these, the oldest ones.
    std::uint64_t at_most = UINT64_MAX;
    /// A dead letter does not hold a row here: it says nothing of where the stream begins.
    bool by_messages = false;
};

class missing_rows {
public:
    /// Errors here and below: temporary_file.
    [[nodiscard]] static result<std::unique_ptr<missing_rows>> make(missing_rows_options options);

    /// In the order of the table.
    [[nodiscard]] result<void> add_row(std::uint32_t table, std::string_view id,
                                       row_traits traits = {});
    /// A row that has no message id: only a dead letter without one can stand for it.
    void add_row_without_id(std::uint32_t table, row_traits traits = {});
    /// `id` is that of the message; one that was published again (`<id>;<occasion>`) stands for its
    /// row, too.
    [[nodiscard]] result<void> add_message(std::string_view id);
    /// `id` is empty where the dead letter has none. It stands for a row of this table only.
    [[nodiscard]] result<void> add_dead_letter(std::uint32_t table, std::string_view id);

    /// Compares. Nothing can be added afterwards.
    [[nodiscard]] result<void> find();

    // After find().

    [[nodiscard]] bool is_missing(std::uint32_t table, std::uint64_t row) const;
    /// The next rows from `from` on that are missing, or published and pending where those are
    /// asked for as well, at most `longest` of them; of length 0 where there are none.
    [[nodiscard]] row_run next_run(std::uint32_t table, std::uint64_t from, std::uint64_t longest,
                                   bool also_published) const;
    [[nodiscard]] std::uint64_t row_count(std::uint32_t table) const { return at(table).rows; }
    [[nodiscard]] std::uint64_t missing_count(std::uint32_t table) const;
    /// Of those, the ones that are pending.
    [[nodiscard]] std::uint64_t pending_count(std::uint32_t table) const;
    /// The first row of the table that a message or a dead letter stands for; nothing if there is
    /// none.
    [[nodiscard]] std::optional<std::uint64_t> first_held(std::uint32_t table) const {
        return at(table).first_held;
    }
    /// The same, of messages alone.
    [[nodiscard]] std::optional<std::uint64_t> first_stored(std::uint32_t table) const {
        return at(table).first_stored;
    }
    /// Rows that are older than the first one that is held, or all where none is, do not count as
    /// missing from now on, as far as `which` goes. Gives how many those are.
    std::uint64_t excuse_older(std::uint32_t table, const excuse& which);

private:
    struct table_state {
        std::uint64_t rows = 0;
        std::vector<bool> missing;
        /// A message stands for it, and no dead letter, and it is pending.
        std::vector<bool> published;
        std::vector<bool> pending;
        std::vector<bool> begins_a_time;
        std::vector<std::uint64_t> without_id;
        std::uint64_t letters_without_id = 0;
        std::optional<std::uint64_t> first_held;
        std::optional<std::uint64_t> first_stored;
    };

    missing_rows(missing_rows_options options, spill_file file, store_shape shape);
    [[nodiscard]] const table_state& at(std::uint32_t table) const { return tables_.at(table); }
    static void add(table_state& table, row_traits traits);
    static void hold(table_state& table, std::uint64_t row);
    void settle(const record& row, id_facts& facts);

    missing_rows_options options_;
    spill_file file_;
    bucket_store store_;
    std::vector<table_state> tables_;
};

}  // namespace walrelay::audit
