#include "tasks/backfill/backfill_source.hpp"

#include "core/bytea_text.hpp"
#include "core/position.hpp"
#include "core/progress.hpp"
#include "core/type_oid.hpp"
#include "log/log.hpp"
#include "postgres/catalog/inspector.hpp"
#include "postgres/session/server_error.hpp"
#include "relay/machine/relay_words.hpp"
#include "servers/postgres_access.hpp"
#include "servers/provisioning.hpp"
#include "servers/translate.hpp"

#include <algorithm>
#include <utility>

namespace walrelay::tasks {

namespace {

using boost::asio::awaitable;

/// Table rows have "\x" in front of a bytea's digits, changes have not.
field as_in_a_change(const postgres::cell& value, type_oid type) {
    if (!value) {
        return std::nullopt;
    }
    return type == oid::bytea ? digits_of_bytea(*value) : std::string_view(*value);
}

/// What of the rows from before the slot is in the stream then: healing is of later ones.
const char* published_of(preflight::backfill_reason reason, config::snapshot_mode mode) {
    if (reason == preflight::backfill_reason::slot_lost) {
        return "unknown";
    }
    return mode == config::snapshot_mode::all ? "all" : "pending";
}

}  // namespace

backfill_source::backfill_source(servers::executors on, const config::settings& settings,
                                 preflight::backfill_reason reason, postgres_facts facts)
    : on_(std::move(on)),
      settings_(settings),
      reason_(reason),
      facts_(std::move(facts)),
      search_(std::make_shared<missing_search>(on_, settings, reason)),
      told_at_(std::chrono::steady_clock::now()) {}

void backfill_source::close() {
    search_->give_up();
    if (sql_) {
        sql_->close();
    }
    if (replication_) {
        replication_->close();
    }
}

std::optional<error> backfill_source::is_in_use(int earlier_process) const {
    if (!holds_rows() || !facts_.slot->active) {
        return std::nullopt;
    }
    if (earlier_process != 0 && facts_.slot->active_pid == earlier_process) {
        return postgres::slot_not_released(settings_.postgres.slot);
    }
    return error{errc::slot_in_use,
                 "slot " + settings_.postgres.slot +
                     " is in use, so that what it holds is not given up for the tables"};
}

awaitable<result<relay::postgres_session>> backfill_source::begin(int earlier_process) {
    if (auto gives = gives_up_messages()) {
        co_return *gives;
    }
    if (auto taken = is_in_use(earlier_process)) {
        co_return *taken;
    }
    const auto slot = co_await make_slot();
    if (!slot) {
        co_return slot.error();
    }
    const auto begun = co_await begin_snapshot();
    if (!begun) {
        co_return begun.error();
    }
    const auto searched = co_await search();
    if (!searched) {
        co_return searched.error();
    }
    const bool heals = reason_ == preflight::backfill_reason::slot_lost;
    relay::postgres_session session;
    session.origin = server_.line.origin;
    session.server = server_;
    session.database = facts_.database;
    session.catalog = relay::table_catalog(settings_.outbox, facts_);
    session.plugin = plugin_;
    session.rows_first = {slot_.consistent_point, search_->stream_sequence(),
                          heals ? "healing the slot" : "snapshot of what was there",
                          search_->row_count()};
    co_return session;
}

// The slot and its snapshot.

backfill_source::outcome<> backfill_source::make_slot() {
    auto replication = co_await servers::open_replication(on_.loop, settings_);
    if (!replication) {
        co_return replication.error();
    }
    replication_.emplace(std::move(*replication));
    auto sql = co_await servers::open_sql(on_.loop, settings_);
    if (!sql) {
        co_return sql.error();
    }
    sql_.emplace(std::move(*sql));
    auto server = co_await postgres::identify(*replication_);
    if (!server) {
        co_return server.error();
    }
    server_ = std::move(*server);
    plugin_ = preflight::choose_plugin(servers::expectations_of(settings_), facts_);
    log<"snapshot_waits">(
        "taking a snapshot of the outbox tables; it waits for the transactions that run now");
    auto made = co_await make_temporary_slot();
    const bool other_choice = plugin_ == output_plugin::wal2json && !settings_.postgres.plugin;
    if (!made && other_choice && made.error().code == errc::postgres_unsuitable) {
        plugin_ = output_plugin::pgoutput;
        made = co_await make_temporary_slot();
    }
    if (!made) {
        co_return made.error();
    }
    if (holds_rows()) {
        co_return result<void>{};
    }
    co_return co_await claim_name(*sql_);
}

/// Before anything is published: nobody must stream from a slot that begins elsewhere.
backfill_source::outcome<> backfill_source::claim_name(postgres::connection& sql) {
    auto slot = settings_.postgres.slot;
    co_return co_await postgres::claim_slot_name(sql, std::move(slot), facts_.slot.has_value());
}

/// A slot that can still be read is given up only for what is elsewhere as well.
bool backfill_source::holds_rows() const {
    return reason_ == preflight::backfill_reason::slot_lost && slot_rest::can_be_read(facts_);
}

std::optional<error> backfill_source::gives_up_messages() const {
    const bool tableless = std::ranges::any_of(settings_.outbox, &outbox_table::is_tableless);
    return tableless && holds_rows() ? std::optional(heals_no_messages(settings_.postgres.slot))
                                     : std::nullopt;
}

backfill_source::outcome<> backfill_source::search() {
    if (!holds_rows()) {
        co_return co_await search_->run(*sql_, snapshot_, server_.line);
    }
    const auto rest = co_await slot_rest::read(on_, settings_, facts_, slot_.consistent_point);
    if (!rest) {
        co_return rest.error();
    }
    search_->tell_of_rows(*rest);
    const auto searched = co_await search_->run(*sql_, snapshot_, server_.line);
    if (!searched) {
        co_return searched.error();
    }
    const auto& last = search_->last();
    if (last && last->at.commit >= before_slot(slot_.consistent_point)) {
        // Before the slot is given up: the relay would refuse to publish.
        auto why = relay::lies_beyond_the_wal(settings_.nats.stream, last->at, last->sequence,
                                              slot_.consistent_point);
        why.what += "; nothing is healed, and slot " + settings_.postgres.slot + " has its rows";
        co_return why;
    }
    if ((*rest)->left() > 0 || (*rest)->without_id() > 0) {
        co_return holds_the_last_copy(settings_.postgres.slot, **rest);
    }
    // The other one is within the snapshot.
    auto sql = co_await servers::open_sql(on_.loop, settings_);
    if (!sql) {
        co_return sql.error();
    }
    co_return co_await claim_name(*sql);
}

backfill_source::outcome<> backfill_source::make_temporary_slot() {
    // The publication first: pgoutput cannot decode from before it.
    if (plugin_ == output_plugin::pgoutput && !facts_.publication) {
        const auto published = co_await servers::make_publication(*sql_, settings_);
        if (!published) {
            co_return published.error();
        }
        facts_.publication.emplace();
    }
    auto made =
        co_await postgres::create_snapshot_slot(*replication_, settings_.postgres.slot, plugin_);
    if (!made) {
        co_return made.error();
    }
    slot_ = std::move(*made);
    co_return result<void>{};
}

backfill_source::outcome<> backfill_source::begin_snapshot() {
    auto tables = servers::table_names_of(settings_);
    auto name = slot_.snapshot;
    auto begun = co_await postgres::begin_snapshot(*sql_, std::move(tables), std::move(name));
    if (!begun) {
        co_return begun.error();
    }
    snapshot_ = std::move(*begun);
    co_return result<void>{};
}

// The rows.

backfill_source::outcome<bool> backfill_source::open_table() {
    const auto& reading = search_->readings()[table_];
    auto how = reading.of(reading.columns);
    const auto opened = co_await postgres::open_cursor(*sql_, std::move(how));
    if (!opened) {
        co_return opened.error();
    }
    table_is_open_ = true;
    next_row_ = 0;
    co_return true;
}

backfill_source::outcome<bool> backfill_source::fetch() {
    for (; table_ < search_->readings().size(); ++table_) {
        const auto run =
            search_->rows().next_run(table_, table_is_open_ ? next_row_ : 0, rows_of_a_piece_,
                                     search_->readings()[table_].also_published);
        if (run.length > 0) {
            co_return co_await fetch_run(run);
        }
        if (std::exchange(table_is_open_, false)) {
            const auto closed = co_await postgres::close_cursor(*sql_);
            if (!closed) {
                co_return closed.error();
            }
        }
    }
    co_return false;
}

backfill_source::outcome<bool> backfill_source::fetch_run(audit::row_run run) {
    if (!table_is_open_) {
        const auto opened = co_await open_table();
        if (!opened) {
            co_return opened.error();
        }
    }
    if (run.first > next_row_) {
        const auto skipped = co_await postgres::skip_rows(*sql_, run.first - next_row_);
        if (!skipped) {
            co_return skipped.error();
        }
    }
    auto rows = co_await postgres::fetch_rows(*sql_, static_cast<std::size_t>(run.length));
    if (!rows) {
        co_return rows.error();
    }
    if (rows->empty()) {
        co_return error{errc::postgres_lost, "the snapshot of table " +
                                                 to_string(settings_.outbox[table_].table) +
                                                 " ended before all of its rows were read"};
    }
    next_row_ = run.first + rows->size();
    piece_is_published_ = run.published;
    hold_piece(std::move(*rows));
    co_return true;
}

void backfill_source::hold_piece(postgres::row_set rows) {
    // So many that a piece has about this size, whatever a row has.
    constexpr std::size_t wanted_bytes = 1U << 20U;
    constexpr std::size_t rows_max = 2000;
    std::size_t bytes = 1;
    for (const auto& row : rows.rows()) {
        for (const auto& cell : row) {
            bytes += cell ? cell->size() : 0;
        }
    }
    rows_of_a_piece_ = std::clamp<std::size_t>(wanted_bytes * rows.size() / bytes, 1, rows_max);
    piece_ = std::move(rows);
    next_of_piece_ = 0;
    tell_progress();
}

std::optional<relay::backfill_row> backfill_source::next() {
    if (next_of_piece_ == piece_.size()) {
        return std::nullopt;
    }
    const auto& cells = piece_.rows()[next_of_piece_++];
    const auto& description = search_->readings()[table_].description;
    fields_.clear();
    for (std::size_t index = 0; index < cells.size(); ++index) {
        fields_.push_back(as_in_a_change(cells[index], description.columns[index].type));
    }
    return relay::backfill_row{table_, {&description, fields_}, piece_is_published_};
}

void backfill_source::tell_progress() {
    constexpr std::chrono::seconds pause{5};
    told_rows_ += piece_is_published_ ? 0 : piece_.size();
    const auto now = std::chrono::steady_clock::now();
    begun_at_ = begun_at_.value_or(now);
    if (now - told_at_ < pause) {
        return;
    }
    told_at_ = now;
    const std::chrono::duration<double> passed = now - *begun_at_;
    log<"snapshot_progress">(
        "rows from before the slot: " +
            describe({.done = told_rows_, .total = search_->row_count(), .seconds = passed.count()},
                     "rows read"),
        with<"rows">(told_rows_), with<"total_rows">(search_->row_count()));
}

backfill_source::outcome<> backfill_source::adopt() {
    const auto ended = co_await postgres::end_snapshot(*sql_);
    if (!ended) {
        co_return ended.error();
    }
    auto from = slot_;
    auto slot = settings_.postgres.slot;
    auto adopted = co_await postgres::adopt_snapshot_slot(*sql_, std::move(from), std::move(slot));
    // Healed rows stay those that the stream must have: the next healing begins where this one has.
    if (adopted && !search_->knows_start()) {
        std::string published = published_of(reason_, settings_.postgres.snapshot);
        co_await servers::keep_start(*sql_, settings_, slot_, std::move(published));
    }
    if (adopted && preflight::choose_failover(servers::expectations_of(settings_), facts_)) {
        co_await make_failover_slot();
    }
    co_return adopted;
}

/// The slot works without, so that a failure is no reason to read all rows once more.
awaitable<void> backfill_source::make_failover_slot() {
    auto slot = settings_.postgres.slot;
    const auto done = co_await postgres::enable_failover(*replication_, std::move(slot));
    if (!done) {
        log<"failover_not_enabled">(
            "slot " + settings_.postgres.slot +
                " is no failover slot yet, walrelay check names the command that makes it one: " +
                to_string(done.error()),
            with<"slot">(settings_.postgres.slot), with<"error">(done.error().code));
    }
}

}  // namespace walrelay::tasks
