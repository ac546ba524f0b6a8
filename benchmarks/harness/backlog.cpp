#include "harness/backlog.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace walrelay::bench {
namespace {

constexpr const char* neighbour_table = "public.audit_log";
constexpr int fillers = 64;

constexpr const char* columns = R"( (
    id uuid PRIMARY KEY,
    aggregate_id varchar(255) NOT NULL,
    aggregate_type varchar(255) NOT NULL,
    event_type varchar(255) NOT NULL,
    event_data jsonb NOT NULL,
    metadata jsonb,
    status varchar(50) NOT NULL,
    version bigint NOT NULL,
    created_at timestamptz NOT NULL,
    published_at timestamptz
);)";

/// `first` and `last` as SQL.
std::string insert_between(const std::string& first, const std::string& last,
                           const std::string& table) {
    return fmt::format(
        "INSERT INTO {} (id, aggregate_id, aggregate_type, event_type, event_data, status, "
        "version, created_at) SELECT "
        "('00000000-0000-0000-0000-' || lpad(n::text, 12, '0'))::uuid, "
        "'user-' || lpad((n % 1000)::text, 4, '0'), 'user', 'user.created', "
        "jsonb_build_object('text', (SELECT text FROM filler WHERE i = n % {})), 'pending', 1, "
        "clock_timestamp() FROM generate_series({}::bigint, {}::bigint) AS n;",
        table, fillers, first, last);
}

std::string transaction_of(const std::string& first, const std::string& last, const backlog& what) {
    auto sql = insert_between(first, last, outbox_table);
    if (what.busy_neighbour) {
        sql += insert_between(first, last, neighbour_table);
    }
    return sql;
}

/// Many small transactions: made by the server itself, which no round trip then slows down.
void fill_inside(test::postgres_session& session, const backlog& what) {
    // `first` and `last` are keywords of PL/pgSQL.
    session.execute(fmt::format(
        "DO $$ BEGIN FOR lowest IN 1 .. {0} BY {1} LOOP {2} COMMIT; END LOOP; END $$", what.rows,
        what.rows_per_transaction,
        transaction_of(
            "lowest",
            fmt::format("least(lowest + {} - 1, {})", what.rows_per_transaction, what.rows),
            what)));
}

}  // namespace

void create_tables(test::postgres_session& session) {
    session.execute(std::string("CREATE TABLE ") + outbox_table + columns);
    session.execute(std::string("CREATE TABLE ") + neighbour_table + columns);
    session.execute("CREATE TABLE filler (i bigint PRIMARY KEY, text text NOT NULL)");
}

void restore_tables(test::postgres_session& session) {
    session.execute(fmt::format("TRUNCATE {}, {}", outbox_table, neighbour_table));
    session.execute("DROP INDEX IF EXISTS outbox_pending");
    session.execute("ALTER SYSTEM RESET autovacuum");
    session.execute("SELECT pg_reload_conf()");
}

void make_ready_for_polling(test::postgres_session& session) {
    session.execute("ALTER SYSTEM SET autovacuum = on");
    session.execute("SELECT pg_reload_conf()");
    session.execute(std::string("ANALYZE ") + outbox_table);
}

void set_filler(test::postgres_session& session, std::uint64_t characters) {
    constexpr int digest_characters = 32;
    session.execute(fmt::format(
        "TRUNCATE filler; INSERT INTO filler SELECT i, left(string_agg(md5(i || '.' || part), '' "
        "ORDER BY part), {}) FROM generate_series(0, {}) AS i, generate_series(0, {}) AS part "
        "GROUP BY i; ANALYZE filler",
        characters, fillers - 1, characters / digest_characters));
}

std::string insert_rows(std::uint64_t first, std::uint64_t last) {
    return insert_between(std::to_string(first), std::to_string(last), outbox_table);
}

void prepare_put(test::postgres_session& session) {
    session.execute("PREPARE put(bigint, bigint) AS " + insert_between("$1", "$2", outbox_table));
}

std::string row_digits(std::uint64_t row) {
    return fmt::format("{:0>12}", row);
}

std::optional<std::uint64_t> row_in(std::string_view text) {
    constexpr std::string_view id_start = "00000000-0000-0000-0000-";
    constexpr std::size_t digits = 12;
    const auto found = text.find(id_start);
    if (found == std::string_view::npos || text.size() < found + id_start.size() + digits) {
        return std::nullopt;
    }
    const char* const first = text.data() + found + id_start.size();
    std::uint64_t row = 0;
    return std::from_chars(first, first + digits, row).ec == std::errc{} ? std::optional(row)
                                                                         : std::nullopt;
}

void fill(test::postgres_session& session, const backlog& what) {
    // Nobody measures the filling.
    session.execute("SET synchronous_commit = off");
    constexpr std::uint64_t small = 100;
    if (what.rows_per_transaction <= small) {
        fill_inside(session, what);
    } else {
        for (std::uint64_t first = 1; first <= what.rows; first += what.rows_per_transaction) {
            const auto last = std::min(first + what.rows_per_transaction - 1, what.rows);
            session.execute(transaction_of(std::to_string(first), std::to_string(last), what));
        }
    }
    session.execute("SET synchronous_commit = on; CHECKPOINT");
}

}  // namespace walrelay::bench
