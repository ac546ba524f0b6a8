// Which rows of a table are in no message, and which are: two bits for each row, found by message
// id with a bucket of ids at a time in memory.
//
//     { add_row, add_row_without_id }*, { add_message, add_dead_letter }*, find, then the questions
//
// Rows are counted as they come, from 0 for each table; whoever reads them a second time in the
// same order knows by the count which are missing. Knows no server.
#pragma once

#include "audit/bucket_store.hpp"
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

class missing_rows {
public:
    /// Errors here and below: temporary_file.
    [[nodiscard]] static result<std::unique_ptr<missing_rows>> make(missing_rows_options options);

    [[nodiscard]] result<void> add_row(std::uint32_t table, std::string_view id);
    /// A row that has no message id: only a dead letter without one can stand for it.
    void add_row_without_id(std::uint32_t table);
    /// `id` is that of the message; one that was published again (`<id>;<occasion>`) stands for its
    /// row, too.
    [[nodiscard]] result<void> add_message(std::string_view id);
    /// `id` is empty where the dead letter has none.
    [[nodiscard]] result<void> add_dead_letter(std::uint32_t table, std::string_view id);

    /// Compares. Nothing can be added afterwards.
    [[nodiscard]] result<void> find();

    // After find().

    [[nodiscard]] bool is_missing(std::uint32_t table, std::uint64_t row) const;
    /// The next rows from `from` on that are missing, or published where those are asked for as
    /// well, at most `longest` of them; of length 0 where there are none.
    [[nodiscard]] row_run next_run(std::uint32_t table, std::uint64_t from, std::uint64_t longest,
                                   bool also_published) const;
    [[nodiscard]] std::uint64_t row_count(std::uint32_t table) const { return at(table).rows; }
    [[nodiscard]] std::uint64_t missing_count(std::uint32_t table) const;
    /// The first row of the table that a message or a dead letter stands for; nothing if there is
    /// none.
    [[nodiscard]] std::optional<std::uint64_t> first_held(std::uint32_t table) const {
        return at(table).first_held;
    }
    /// From now on rows before `row` do not count as missing.
    void excuse_before(std::uint32_t table, std::uint64_t row);

private:
    struct table_state {
        std::uint64_t rows = 0;
        std::vector<bool> missing;
        /// A message stands for it, and no dead letter.
        std::vector<bool> published;
        std::vector<std::uint64_t> without_id;
        std::uint64_t letters_without_id = 0;
        std::optional<std::uint64_t> first_held;
    };

    missing_rows(missing_rows_options options, spill_file file, store_shape shape);
    [[nodiscard]] const table_state& at(std::uint32_t table) const { return tables_.at(table); }
    static void hold(table_state& table, std::uint64_t row);

    missing_rows_options options_;
    spill_file file_;
    bucket_store store_;
    std::vector<table_state> tables_;
};

}  // namespace walrelay::audit
