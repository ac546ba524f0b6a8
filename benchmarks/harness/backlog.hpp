// The outbox of the measurements and its rows. Knows nothing of who reads them.
#pragma once

#include "support/postgres_session.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace walrelay::bench {

/// What committed rows look like.
struct backlog {
    std::uint64_t rows = 0;
    std::uint64_t rows_per_transaction = 1000;
    /// Each transaction writes as many rows again into a table that nobody relays.
    bool busy_neighbour = false;
};

inline constexpr const char* outbox_table = "public.outbox_events";

/// The outbox and its neighbour. Both have the columns of the usual shape, a status for pollers
/// among them, and no index besides the primary key.
void create_tables(test::postgres_session& session);

/// Both empty, and without what a poller has needed.
void restore_tables(test::postgres_session& session);

/// What polling needs from the server besides its index: statistics, and autovacuum, since an index
/// that is full of published rows is read by each poll.
void make_ready_for_polling(test::postgres_session& session);

/// From now on rows hold a text of that many characters, different from row to row and hard to
/// compress.
void set_filler(test::postgres_session& session, std::uint64_t characters);

/// INSERT of the rows with these numbers, as one statement. A number has up to twelve digits, and
/// a row's id is a uuid that ends in them.
[[nodiscard]] std::string insert_rows(std::uint64_t first, std::uint64_t last);
/// The same as a statement `put(first bigint, last bigint)` for EXECUTE.
void prepare_put(test::postgres_session& session);

/// The twelve digits at the end of a row's id.
[[nodiscard]] std::string row_digits(std::uint64_t row);
/// The row whose id is in the text; nothing if there is none.
[[nodiscard]] std::optional<std::uint64_t> row_in(std::string_view text);

/// Commits the rows 1 to `what.rows`.
void fill(test::postgres_session& session, const backlog& what);

}  // namespace walrelay::bench
