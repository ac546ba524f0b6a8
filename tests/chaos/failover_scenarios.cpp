// Faults of which server the database is: restored disks, promotions, a primary that comes back.
// See scenario.hpp.
#include "chaos/position_stage.hpp"
#include "chaos/standby_pair.hpp"
#include "support/eventually.hpp"
#include "support/outbox_events.hpp"
#include "support/postgres_template.hpp"

#include <fmt/format.h>

#include <fstream>
#include <stdexcept>
#include <thread>

namespace walrelay::chaos {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t later_rows = 10000;
const std::vector<std::string> history_causes{"timeline", "history", "restored", "beyond", "tail"};

void conclude(trial& one, std::set<std::string> excused = {}) {
    const auto answer = meet_and_fix(one, history_causes);
    if (answer == response::went_on) {
        stop_relay(one);
    }
    judge_rows(one, {.ids = ids_of(one.where()), .excused = std::move(excused)}, answer);
}

void commit_and_wait(trial& one, std::uint64_t first, std::uint64_t last) {
    commit_rows(one.where(), first, last);
    one.wait_for_marker(recovery_patience);
}

void with_short_window(arena_options& options) {
    with_standby_server(options);
    options.duplicate_window = 100ms;
}

void with_broker_link(arena_options& options) {
    with_standby_server(options);
    options.proxies = true;
}

// ---- the same timeline number twice -------------------------------------------------------------

/// `rows_after` on the restored server: fewer than it had before, or more.
void restore_disk(trial& one, bool relay_stays, std::uint64_t rows_after) {
    auto& where = one.where();
    const test::temporary_folder saved("saved");
    begin(one);
    commit_and_wait(one, 1, 100);
    where.postgres().stop(test::postgres_stop::fast);
    where.postgres().save_disk(saved.path() / "data");
    where.postgres().start();
    one.wait_for_marker(recovery_patience);
    commit_and_wait(one, 101, 600);
    const auto before = ids_of(where);
    if (!relay_stays) {
        where.relay().kill_9();
    }
    where.postgres().stop(test::postgres_stop::immediate);
    where.postgres().restore_disk(saved.path() / "data");
    where.postgres().start();
    const auto excused = without(before, ids_of(where));
    commit_rows(where, later_rows, later_rows + rows_after - 1);
    if (!relay_stays) {
        where.start_relay();
    }
    conclude(one, excused);
}

void start_copy(test::postgres_server& server, const std::filesystem::path& disk) {
    server.stop(test::postgres_stop::fast);
    server.restore_disk(disk);
    server.start();
}

void promote_copy(arena& where, test::postgres_server& server) {
    server.session().execute("SELECT pg_promote()");
    where.make_primary(server);
    where.relay_connects_to({&server});
}

/// Both are copies of one server that has stopped, and so of the same history up to there.
void promote_two(trial& one, std::uint64_t rows_after) {
    auto& where = one.where();
    const test::temporary_folder saved("saved");
    const auto disk = saved.path() / "data";
    auto& first = where.add_server();
    auto& second = where.add_server();
    begin(one);
    commit_and_wait(one, 1, 100);
    stop_relay(one);
    where.postgres().stop(test::postgres_stop::fast);
    where.postgres().save_disk(disk);
    std::ofstream(disk / "standby.signal").close();
    test::give_to_postgres(disk);
    start_copy(first, disk);
    start_copy(second, disk);
    promote_copy(where, first);
    where.start_relay();
    one.wait_for_marker(recovery_patience);
    commit_and_wait(one, 101, 600);
    const auto before = ids_of(where);
    where.relay().kill_9();
    first.kill_9();
    promote_copy(where, second);
    const auto excused = without(before, ids_of(where));
    commit_rows(where, later_rows, later_rows + rows_after - 1);
    where.start_relay();
    conclude(one, excused);
}

// ---- failover -----------------------------------------------------------------------------------

/// All rows are on both servers; what the slot of the standby sends again is older than the window.
void fail_over_clean(trial& one, bool relay_stays) {
    auto& where = one.where();
    standby_pair pair(one);
    begin(one);
    commit_and_wait(one, 1, 100);
    pair.synchronise_slot();
    commit_and_wait(one, 101, 500);
    pair.catch_up();
    if (!relay_stays) {
        where.relay().kill_9();
    }
    pair.fail_over();
    if (!relay_stays) {
        pass(1500ms);
        where.start_relay();
    }
    commit_rows(where, later_rows, later_rows + 99);
    conclude(one);
}

void return_old_primary(trial& one) {
    auto& where = one.where();
    standby_pair pair(one);
    begin(one);
    commit_and_wait(one, 1, 100);
    pair.synchronise_slot();
    commit_and_wait(one, 101, 200);
    pair.catch_up();
    pair.fail_over();
    commit_and_wait(one, 201, 300);
    where.relay().kill_9();
    where.postgres().start();
    where.make_primary(where.postgres());
    commit_rows(where, later_rows, later_rows + 49);
    where.make_primary(pair.standby());
    commit_rows(where, 301, 350);
    const auto log_begin = where.relay_log().size();
    where.start_relay();
    const auto answer = meet(one, history_causes, log_begin);
    if (answer == response::went_on) {
        stop_relay(one);
    }
    judge_rows(one, {.ids = ids_of(where)}, answer);
    require(where.relay_log().substr(log_begin).find("timeline") != std::string::npos,
            "the old primary is not refused by name");
}

/// The relay must say at once which messages the new primary never had.
void require_named(trial& one, const std::set<std::string>& orphans) {
    std::uint64_t first = 0;
    std::uint64_t last = 0;
    std::uint64_t count = 0;
    test::stream_reader reader(one.where().broker_url());
    reader.for_each(stream_name, 0, [&](const test::stored_message& message) {
        if (orphans.contains(message.header("Nats-Msg-Id"))) {
            first = count++ == 0 ? message.sequence : first;
            last = message.sequence;
        }
    });
    const auto log = one.where().relay_log();
    for (const auto number : {count, first, last}) {
        if (log.find(std::to_string(number)) == std::string::npos) {
            one.result().complaints.push_back(
                fmt::format("{} messages that the new primary never had, {} to {}, are not named",
                            count, first, last));
            return;
        }
    }
}

/// The standby lacks the last rows.
void diverge(trial& one, bool relay_stays) {
    auto& where = one.where();
    standby_pair pair(one);
    begin(one);
    commit_and_wait(one, 1, 100);
    pair.synchronise_slot();
    commit_and_wait(one, 101, 200);
    pair.catch_up();
    pair.standby().stop(test::postgres_stop::fast);
    commit_and_wait(one, 201, 437);
    const auto before = ids_of(where);
    if (!relay_stays) {
        where.relay().kill_9();
    }
    where.postgres().kill_9();
    pair.standby().start();
    pair.promote();
    const auto orphans = without(before, ids_of(where));
    commit_rows(where, later_rows, later_rows + 99);
    if (!relay_stays) {
        where.start_relay();
    }
    conclude(one, orphans);
    require_named(one, orphans);
}

/// Until the relay, whose broker is away, has read all that is committed by now.
void wait_until_read(arena& where) {
    const auto end = where.session().value_of("SELECT pg_current_wal_flush_lsn()");
    const bool sent = test::eventually(recovery_patience, [&] {
        return where.session().value_of(
                   "SELECT count(*) FROM pg_stat_replication WHERE"
                   " application_name LIKE 'relay%' AND sent_lsn >= " +
                   test::as_literal(end) + "::pg_lsn") == "1";
    });
    require(sent, "the relay does not read while the broker is away");
}

/// The rows that the standby lacks are in the memory of the relay, and must never come out of it.
void diverge_without_broker(trial& one) {
    auto& where = one.where();
    standby_pair pair(one);
    begin(one);
    commit_and_wait(one, 1, 100);
    pair.synchronise_slot();
    commit_and_wait(one, 101, 200);
    pair.catch_up();
    pair.standby().stop(test::postgres_stop::fast);
    where.nats().kill_9();
    commit_rows(where, 201, 700);
    wait_until_read(where);
    where.postgres().kill_9();
    pair.standby().start();
    pair.promote();
    commit_rows(where, later_rows, later_rows + 99);
    where.nats().start();
    conclude(one);
}

/// The broker stores rows, the relay is not told, and both servers fail.
void fail_before_ack(trial& one, standby_pair& pair) {
    auto& where = one.where();
    where.nats_link().set(direction::to_client, {.black_hole = true});
    const auto stored = test::stream_reader(where.broker_url()).message_count(stream_name);
    commit_rows(where, 101, 120);
    wait_for_messages(where, stored + 1);
    pair.catch_up();
    where.nats().kill_9();
    pair.fail_over();
    where.nats_link().reset_all();
    where.nats_link().heal();
}

/// The broker is away first, so that the relay has rows in memory that the new primary has as well.
void fail_before_publish(trial& one, standby_pair& pair) {
    auto& where = one.where();
    where.nats().kill_9();
    commit_rows(where, 101, 120);
    wait_until_read(where);
    pair.catch_up();
    pair.fail_over();
}

/// A row that was stored a moment before comes again from the new primary.
void fail_broker_and_primary(trial& one, void (*fail)(trial&, standby_pair&)) {
    auto& where = one.where();
    standby_pair pair(one);
    begin(one);
    commit_and_wait(one, 1, 100);
    pair.synchronise_slot();
    fail(one, pair);
    commit_rows(where, later_rows, later_rows + 19);
    wait_until_read(where);
    where.nats().start();
    conclude(one);
}

// ---- a slot of the standby itself ---------------------------------------------------------------

/// The standby waits for a record of the primary's before the slot is there.
void make_slot_on_standby(arena& where, const test::postgres_standby& standby) {
    std::string failure;
    std::thread making([&] {
        try {
            standby.session(where.database())
                .execute("SELECT pg_create_logical_replication_slot('chaos', '" +
                         where.options().plugin + "')");
        } catch (const std::runtime_error& problem) {
            failure = problem.what();
        }
    });
    const bool made = test::eventually(recovery_patience, [&] {
        where.postgres().session().execute("SELECT pg_log_standby_snapshot()");
        return !failure.empty() || standby.session().value_of(
                                       "SELECT count(*) FROM pg_replication_slots WHERE"
                                       " slot_name = 'chaos' AND NOT active") == "1";
    });
    making.join();
    require(made && failure.empty(), "no slot on the standby: " + failure);
}

void require_timelines(trial& one, const std::string& first_of_second) {
    test::stream_reader reader(one.where().broker_url());
    std::uint64_t wrong = 0;
    bool second = false;
    reader.for_each(stream_name, 0, [&](const test::stored_message& message) {
        second = second || message.header("Nats-Msg-Id") == first_of_second;
        const auto position = message.header("Walrelay-Position");
        const auto begin = position.find('.') + 1;
        const auto timeline = position.substr(begin, position.find('.', begin) - begin);
        wrong += timeline == (second ? "2" : "1") ? 0U : 1U;
    });
    if (wrong > 0) {
        one.result().complaints.push_back(
            fmt::format("{} messages have a position of another timeline than their row", wrong));
    }
}

void promote_live(trial& one) {
    auto& where = one.where();
    begin(one);
    commit_and_wait(one, 1, 50);
    stop_relay(one);
    auto& standby =
        where.add_standby({.settings = {"hot_standby_feedback = on"}, .slot = "standby"});
    standby.catch_up(where.postgres());
    where.session().execute("SELECT pg_drop_replication_slot('chaos')");
    make_slot_on_standby(where, standby);
    where.relay_connects_to({&standby});
    where.start_relay();
    one.wait_for_marker(recovery_patience);
    commit_and_wait(one, 51, 150);
    standby.catch_up(where.postgres());
    standby.promote();
    where.make_primary(standby);
    commit_rows(where, later_rows, later_rows + 99);
    one.wait_for_marker(recovery_patience);
    where.relay().kill_9();
    pass(500ms);
    where.start_relay();
    conclude(one);
    require_timelines(one, test::event_id(later_rows));
}

scenario on_every_server(scenario made, int oldest = 0) {
    made.every_postgres = true;
    made.oldest_postgres = oldest;
    return made;
}

std::vector<scenario> restore_scenarios() {
    return {
        on_every_server(scenario_of(
            "restored_disk", "the data folder is an older copy of itself, on the same timeline",
            {{.name = "relay stays, below the tail",
              .run = [](trial& one) { restore_disk(one, true, 100); }},
             {.name = "relay restarted, below the tail",
              .run = [](trial& one) { restore_disk(one, false, 100); }},
             {.name = "relay restarted, beyond the tail",
              .run = [](trial& one) { restore_disk(one, false, 1500); }}})),
        on_every_server(scenario_of(
            "two_promotions", "two standbys are promoted to the same timeline, one after the other",
            {{.name = "below the tail", .run = [](trial& one) { promote_two(one, 100); }},
             {.name = "beyond the tail", .run = [](trial& one) { promote_two(one, 1500); }}})),
    };
}

}  // namespace

std::vector<scenario> failover_scenarios() {
    constexpr int first_with_slots_on_standbys = 16;
    auto all = restore_scenarios();
    all.push_back(on_every_server(scenario_of(
        "failover", "the standby has all rows; its slot sends again what left the duplicate window",
        {{.name = "relay away",
          .arrange = with_short_window,
          .run = [](trial& one) { fail_over_clean(one, false); }},
         {.name = "relay stays", .arrange = with_short_window, .run = [](trial& one) {
              fail_over_clean(one, true);
          }}})));
    all.push_back(on_every_server(scenario_of(
        "old_primary_returns", "and stands first in the relay's conninfo",
        {{.name = "first", .arrange = with_standby_server, .run = return_old_primary}})));
    all.push_back(on_every_server(scenario_of(
        "diverged_standby", "the standby lacks rows that the stream has, or the relay's memory",
        {{.name = "relay away",
          .arrange = with_short_window,
          .run = [](trial& one) { diverge(one, false); }},
         {.name = "relay stays",
          .arrange = with_short_window,
          .run = [](trial& one) { diverge(one, true); }},
         {.name = "broker away", .arrange = with_standby_server, .run = diverge_without_broker}})));
    all.push_back(on_every_server(scenario_of(
        "broker_and_primary_fail", "both are killed at once, just after rows were stored",
        {{.name = "before the ack",
          .arrange = with_broker_link,
          .run = [](trial& one) { fail_broker_and_primary(one, fail_before_ack); }},
         {.name = "before the publish", .arrange = with_broker_link, .run = [](trial& one) {
              fail_broker_and_primary(one, fail_before_publish);
          }}})));
    all.push_back(on_every_server(
        scenario_of("standby_promoted_live", "the slot is on a standby, which is promoted",
                    {{.name = "live",
                      .arrange = [](arena_options& options) { options.duplicate_window = 100ms; },
                      .run = promote_live}}),
        first_with_slots_on_standbys));
    return all;
}

}  // namespace walrelay::chaos
