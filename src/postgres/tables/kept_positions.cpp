#include "postgres/tables/kept_positions.hpp"

#include "postgres/session/fact_reader.hpp"

#include <algorithm>
#include <tuple>
#include <utility>
#include <vector>

namespace walrelay::postgres {
namespace {

using boost::asio::awaitable;

/// The limits by way of pg_settings, because idle_replication_slot_timeout came with PostgreSQL 18.
constexpr const char* kept_server_sql = R"sql(
SELECT pg_is_in_recovery(),
       CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() ELSE pg_current_wal_lsn() END,
       (extract(epoch FROM clock_timestamp()) * 1000000)::bigint,
       current_setting('max_replication_slots')::int8
           - (SELECT count(*) FROM pg_replication_slots WHERE NOT temporary),
       coalesce((SELECT setting::int8 * CASE unit WHEN 'min' THEN 60 ELSE 1 END FROM pg_settings
                  WHERE name = 'idle_replication_slot_timeout'), 0),
       (SELECT nullif(setting::int8, -1) * 1048576 FROM pg_settings
         WHERE name = 'max_slot_wal_keep_size')
)sql";

/// The slot $1 and those that have the name of a kept one. What has no confirmed_flush_lsn is being
/// made. By way of jsonb, because the last columns came with PostgreSQL 16 and 17.
constexpr const char* kept_slots_sql = R"sql(
SELECT slot_name::text, plugin::text, active, restart_lsn, confirmed_flush_lsn,
       coalesce(wal_status, ''),
       coalesce(to_jsonb(s) ->> 'invalidation_reason', ''),
       coalesce((to_jsonb(s) ->> 'failover')::bool, false),
       coalesce(age(catalog_xmin), 0),
       CASE WHEN restart_lsn IS NULL THEN 0
            ELSE greatest(pg_wal_lsn_diff($2::pg_lsn, restart_lsn), 0)::bigint END,
       (extract(epoch FROM (to_jsonb(s) ->> 'inactive_since')::timestamptz) * 1000000)::bigint
  FROM pg_replication_slots AS s
 WHERE slot_type = 'logical' AND database = current_database() AND NOT temporary
   AND confirmed_flush_lsn IS NOT NULL
   AND (slot_name::text IN ($1::text, $1::text || '_trail')
        OR starts_with(slot_name::text, $1::text || '_at_'))
)sql";

/// Which of these tables of the schema walrelay are ordinary ones that the role may read.
constexpr const char* readable_sql = R"sql(
SELECT c.relname::text FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
 WHERE n.nspname = 'walrelay' AND c.relname IN ('bookmark', 'trail', 'replay')
   AND c.relkind = 'r' AND NOT c.relrowsecurity
   AND has_schema_privilege(n.oid, 'USAGE') AND has_table_privilege(c.oid, 'SELECT')
)sql";

/// Also what is another slot's: its name can look like one of this slot's.
constexpr const char* register_sql = R"sql(
SELECT kept_slot, slot = $1::text, name, position, coalesce(comment, ''),
       (extract(epoch FROM made_at) * 1000000)::bigint,
       (extract(epoch FROM expires_at) * 1000000)::bigint
  FROM walrelay.bookmark WHERE slot = $1::text OR starts_with(kept_slot, $1::text || '_at_')
)sql";

constexpr const char* trail_covers_sql = R"sql(
SELECT (extract(epoch FROM min(seen_at)) * 1000000)::bigint
  FROM walrelay.trail WHERE slot = $1 AND position >= $2::pg_lsn
)sql";

constexpr const char* unfinished_sql = R"sql(
SELECT coalesce(kept_slot, ''), at_lsn, id, rows_planned, rows_written,
       CASE WHEN since IS NULL THEN range_from ELSE '' END
  FROM walrelay.replay
 WHERE slot = $1 AND state = 'running' ORDER BY id
)sql";

struct registered_slot {
    std::string kept_slot;
    bool is_of_this_slot = false;
    std::optional<std::string> name;
    std::optional<lsn> position;
    std::string comment;
    std::optional<wall_time> made_at;
    std::optional<wall_time> expires_at;
};

std::optional<wall_time> maybe_time(fact_reader& reader, const row_set& rows, std::size_t row,
                                    std::size_t column) {
    if (!rows.at(row, column)) {
        return std::nullopt;
    }
    return wall_time(std::chrono::microseconds(reader.number<std::int64_t>(row, column)));
}

class kept_reading {
public:
    kept_reading(connection& sql, std::string slot) : sql_(sql), slot_(std::move(slot)) {}

    awaitable<result<kept_positions>> run();

private:
    template <class Value = void>
    using outcome = awaitable<result<Value>>;

    [[nodiscard]] bool is_readable(std::string_view table) const {
        return std::ranges::find(readable_, table) != readable_.end();
    }
    outcome<> read_server();
    outcome<> read_readable();
    outcome<> read_register();
    outcome<> read_slots();
    outcome<> read_trail();
    outcome<> read_replays();
    void take_slot(const row_set& rows, fact_reader& reader, std::size_t row);
    void take_entry(kept_position& into, const registered_slot& entry) const;
    void add_gone();

    connection& sql_;
    std::string slot_;
    kept_positions found_;
    std::vector<std::string> readable_;
    std::vector<registered_slot> register_;
};

awaitable<result<void>> kept_reading::read_server() {
    const auto rows = co_await sql_.query(kept_server_sql);
    if (!rows) {
        co_return rows.error();
    }
    fact_reader reader{*rows};
    found_.in_recovery = rows->flag(0, 0);
    found_.wal_end = reader.maybe_lsn(0, 1).value_or(lsn{});
    found_.read_at = wall_time(std::chrono::microseconds(reader.number<std::int64_t>(0, 2)));
    found_.slots_free = reader.number<std::int64_t>(0, 3);
    found_.idle_timeout = std::chrono::seconds(reader.number<std::int64_t>(0, 4));
    if (rows->at(0, 5)) {
        found_.wal_limit_bytes = reader.number<std::uint64_t>(0, 5);
    }
    co_return reader.failure() ? result<void>(*reader.failure()) : result<void>{};
}

awaitable<result<void>> kept_reading::read_readable() {
    const auto rows = co_await sql_.query(readable_sql);
    if (!rows) {
        co_return rows.error();
    }
    for (std::size_t row = 0; row < rows->size(); ++row) {
        readable_.push_back(rows->text(row, 0));
    }
    found_.is_register_readable = is_readable("bookmark");
    co_return result<void>{};
}

awaitable<result<void>> kept_reading::read_register() {
    std::vector<std::string> which{slot_};
    const auto rows = co_await sql_.query(register_sql, std::move(which));
    if (!rows) {
        co_return rows.error();
    }
    fact_reader reader{*rows};
    for (std::size_t row = 0; row < rows->size(); ++row) {
        register_.push_back({rows->text(row, 0), rows->flag(row, 1), rows->at(row, 2),
                             reader.maybe_lsn(row, 3), rows->text(row, 4),
                             maybe_time(reader, *rows, row, 5), maybe_time(reader, *rows, row, 6)});
    }
    co_return reader.failure() ? result<void>(*reader.failure()) : result<void>{};
}

/// A bookmark never moves: a slot that stands elsewhere was made in its place by somebody else.
void kept_reading::take_entry(kept_position& into, const registered_slot& entry) const {
    const bool is_trail = !entry.name.has_value();
    if (is_trail != (into.kind == kept_kind::trail)) {
        return;
    }
    if (!is_trail && entry.position && entry.position != into.confirmed) {
        into.made_at_lsn = entry.position;
        return;
    }
    into.is_ours = true;
    into.name = entry.name.value_or(std::string{});
    into.comment = entry.comment;
    into.made_at = entry.made_at;
    into.expires_at = entry.expires_at;
    if (!is_trail && entry.position) {
        into.covers_from = entry.made_at;
    }
}

void kept_reading::take_slot(const row_set& rows, fact_reader& reader, std::size_t row) {
    const auto name = rows.text(row, 0);
    const auto restart = reader.maybe_lsn(row, 3);
    const auto confirmed = reader.maybe_lsn(row, 4);
    const auto status = rows.text(row, 5);
    if (name == slot_) {
        found_.source = kept_source{rows.text(row, 1), confirmed.value_or(lsn{}), restart, status,
                                    rows.flag(row, 7)};
        return;
    }
    const auto entry = std::ranges::find(register_, name, &registered_slot::kept_slot);
    if (entry != register_.end() && !entry->is_of_this_slot) {
        return;
    }
    kept_position one;
    one.slot = name;
    one.kind = name == trail_slot_name(slot_) ? kept_kind::trail : kept_kind::bookmark;
    if (one.kind == kept_kind::bookmark) {
        one.name = name.substr(bookmark_slot_name(slot_, "").size());
    }
    one.plugin = rows.text(row, 1);
    one.active = rows.flag(row, 2);
    one.restart = restart;
    one.confirmed = confirmed;
    one.lost_for = rows.text(row, 6);
    const bool is_lost = !restart || status == "lost" || !one.lost_for.empty();
    one.state = is_lost ? kept_state::lost : kept_state::kept;
    one.failover = rows.flag(row, 7);
    one.catalog_age_transactions = reader.number<std::uint64_t>(row, 8);
    one.held_bytes = reader.number<std::uint64_t>(row, 9);
    one.idle_since = maybe_time(reader, rows, row, 10);
    if (entry != register_.end()) {
        take_entry(one, *entry);
    }
    found_.all.push_back(std::move(one));
}

awaitable<result<void>> kept_reading::read_slots() {
    std::vector<std::string> which{slot_, to_string(found_.wal_end)};
    const auto rows = co_await sql_.query(kept_slots_sql, std::move(which));
    if (!rows) {
        co_return rows.error();
    }
    fact_reader reader{*rows};
    for (std::size_t row = 0; row < rows->size(); ++row) {
        take_slot(*rows, reader, row);
    }
    co_return reader.failure() ? result<void>(*reader.failure()) : result<void>{};
}

/// What walrelay.bookmark has and no slot stands for.
void kept_reading::add_gone() {
    for (const auto& entry : register_) {
        const bool is_there = std::ranges::find(found_.all, entry.kept_slot,
                                                &kept_position::slot) != found_.all.end();
        const auto its_name =
            entry.name ? bookmark_slot_name(slot_, *entry.name) : trail_slot_name(slot_);
        // Walrelay gives no other names: whoever may write there has written it.
        if (is_there || !entry.is_of_this_slot || entry.kept_slot != its_name) {
            continue;
        }
        kept_position one;
        one.slot = entry.kept_slot;
        one.kind = entry.name ? kept_kind::bookmark : kept_kind::trail;
        one.confirmed = entry.position;
        one.state = kept_state::gone;
        take_entry(one, entry);
        one.covers_from.reset();
        found_.all.push_back(std::move(one));
    }
}

awaitable<result<void>> kept_reading::read_trail() {
    const auto trail = std::ranges::find(found_.all, kept_kind::trail, &kept_position::kind);
    if (trail == found_.all.end() || !trail->is_ours || trail->state != kept_state::kept) {
        co_return result<void>{};
    }
    std::vector<std::string> which{slot_, to_string(trail->confirmed.value_or(lsn{}))};
    const auto rows = co_await sql_.query(trail_covers_sql, std::move(which));
    if (!rows) {
        co_return rows.error();
    }
    fact_reader reader{*rows};
    trail->covers_from = maybe_time(reader, *rows, 0, 0);
    co_return reader.failure() ? result<void>(*reader.failure()) : result<void>{};
}

awaitable<result<void>> kept_reading::read_replays() {
    std::vector<std::string> which{slot_};
    const auto rows = co_await sql_.query(unfinished_sql, std::move(which));
    if (!rows) {
        co_return rows.error();
    }
    fact_reader reader{*rows};
    for (std::size_t row = 0; row < rows->size(); ++row) {
        found_.replays.push_back(
            {rows->text(row, 0), reader.maybe_lsn(row, 1), reader.number<std::int64_t>(row, 2),
             reader.number<std::uint64_t>(row, 3), reader.number<std::uint64_t>(row, 4)});
        // One by time begins somewhere after its place.
        const auto begins = parse_position(rows->text(row, 5));
        if (auto& at = found_.replays.back().at; !at && begins) {
            at = begins->at.commit;
        }
    }
    co_return reader.failure() ? result<void>(*reader.failure()) : result<void>{};
}

awaitable<result<kept_positions>> kept_reading::run() {
    auto step = co_await read_server();
    if (step) {
        step = co_await read_readable();
    }
    // Before the slots: what is registered and made meanwhile would be taken for gone.
    if (step && is_readable("bookmark")) {
        step = co_await read_register();
    }
    if (step) {
        step = co_await read_slots();
    }
    if (step && is_readable("trail")) {
        step = co_await read_trail();
    }
    if (step && is_readable("replay")) {
        step = co_await read_replays();
    }
    if (!step) {
        co_return step.error();
    }
    add_gone();
    std::ranges::sort(found_.all, {}, [](const kept_position& each) {
        return std::tuple(each.confirmed.value_or(lsn{}), each.slot);
    });
    co_return std::move(found_);
}

}  // namespace

awaitable<result<kept_positions>> read_kept_positions(connection& sql, std::string slot) {
    kept_reading reading(sql, std::move(slot));
    co_return co_await reading.run();
}

}  // namespace walrelay::postgres
