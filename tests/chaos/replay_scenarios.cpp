// Replays beside writers, while one after the other of all that takes part is killed: the command,
// the relay, PostgreSQL, the broker. See scenario.hpp.
#include "chaos/position_stage.hpp"
#include "chaos/reported_scenarios.hpp"
#include "support/comparison.hpp"
#include "support/eventually.hpp"
#include "support/outbox_events.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <stdexcept>
#include <utility>

namespace walrelay::chaos {
namespace {

using namespace std::chrono_literals;

constexpr const char* other_stream = "AGAIN";
constexpr const char* other_subjects = "again.{subject}";

// ---- what a replay makes of the stream ----------------------------------------------------------

/// Of a message: what must come again.
struct original {
    std::string position;
    std::string id;
    std::string subject;
    std::string body;
};

/// `1/2A` as 16 digits, in which a position has its commit.
std::string as_in_position(const std::string& lsn) {
    const auto slash = lsn.find('/');
    return fmt::format("{:08X}{:08X}", std::stoul(lsn.substr(0, slash), nullptr, 16),
                       std::stoul(lsn.substr(slash + 1), nullptr, 16));
}

/// The third part: where the transaction committed.
std::string commit_of(const std::string& position) {
    const auto second = position.find('.', position.find('.') + 1);
    return position.substr(second + 1, 16);
}

struct range {
    std::string from;
    std::string until;

    [[nodiscard]] bool holds(const std::string& position) const {
        const auto commit = commit_of(position);
        return commit >= from && commit < until;
    }
};

original original_of(const test::stored_message& message) {
    return {message.header("Walrelay-Position"), message.header("Nats-Msg-Id"), message.subject,
            message.body};
}

/// The live messages of the range, in the order of the stream.
std::vector<original> originals_in(arena& where, const range& wanted) {
    std::vector<original> found;
    test::stream_reader reader(where.broker_url());
    reader.for_each(stream_name, 0, [&](const test::stored_message& message) {
        if (message.header("Walrelay-Replay").empty() &&
            wanted.holds(message.header("Walrelay-Position"))) {
            found.push_back(original_of(message));
        }
    });
    return found;
}

void complain(outcome& result, std::size_t place, const std::string& what) {
    if (result.complaints.size() < 5) {
        result.complaints.push_back(fmt::format("replayed message {}: {}", place, what));
    }
}

/// Each once, in the order of the commits, with what it had.
void judge_same_stream(trial& one, const range& wanted) {
    auto& result = one.result();
    const auto expected = originals_in(one.where(), wanted);
    require(expected.size() >= one.plan().rows, "the range is too small");
    std::size_t place = 0;
    test::stream_reader reader(one.where().broker_url());
    reader.for_each(stream_name, 0, [&](const test::stored_message& message) {
        if (message.header("Walrelay-Replay").empty()) {
            return;
        }
        if (place >= expected.size()) {
            complain(result, place, "one too many");
            return;
        }
        const auto& was = expected[place];
        if (message.header("Walrelay-Original-Position") != was.position ||
            message.header("Nats-Msg-Id") != was.id + ";replay-1-" + was.position) {
            complain(
                result, place,
                fmt::format("{} of {} (sequence {}) in place of {}", message.header("Nats-Msg-Id"),
                            message.header("Walrelay-Original-Position"), message.sequence,
                            was.position));
        } else if (message.body != was.body || message.subject != was.subject) {
            complain(result, place, "not what it was");
        }
        ++place;
    });
    if (place != expected.size()) {
        result.complaints.push_back(
            fmt::format("{} messages were replayed of {}", place, expected.size()));
    }
}

void judge_other_stream(trial& one, const range& wanted) {
    auto& result = one.result();
    const auto expected = originals_in(one.where(), wanted);
    require(expected.size() >= one.plan().rows, "the range is too small");
    std::size_t place = 0;
    test::stream_reader reader(one.where().broker_url());
    reader.for_each(other_stream, 0, [&](const test::stored_message& message) {
        const auto again = original_of(message);
        if (place >= expected.size()) {
            complain(result, place, "one too many");
        } else if (again.position != expected[place].position || again.id != expected[place].id) {
            complain(result, place, "another row than " + expected[place].position);
        } else if (again.body != expected[place].body ||
                   again.subject != "again." + expected[place].subject) {
            complain(result, place, "not what it was");
        }
        ++place;
    });
    if (place != expected.size()) {
        result.complaints.push_back(
            fmt::format("{} messages were replayed of {}", place, expected.size()));
    }
}

// ---- replays under fire -------------------------------------------------------------------------

/// The command that replays: begun again after each end but the last.
class replaying {
public:
    replaying(arena& where, std::vector<std::string> first, std::vector<std::string> again)
        : where_(where),
          first_(std::move(first)),
          again_(std::move(again)),
          process_(where.begin(first_)) {}

    void kill() {
        process_->kill_9();
        go_on();
    }
    /// A server that is away ends it; that is said, and nothing is lost.
    void keep_going() {
        if (!process_->process().running()) {
            go_on();
        }
    }
    /// Until it has come to its end, over as many tries as that takes.
    void finish() {
        constexpr auto patience = 600s;
        const auto done = [this] {
            if (process_->process().running()) {
                return false;
            }
            const auto code = process_->process().wait_exit(0ms);
            // A replay that is done cannot be resumed.
            if (code == 0 || (code == 1 && says("is done already"))) {
                return true;
            }
            go_on();
            return false;
        };
        require(test::eventually(patience, done), "the replay does not come to its end");
    }

private:
    /// Killed early, it has not begun a replay that could be resumed.
    void go_on() {
        const auto& words = says("has no replay") ? first_ : again_;
        log_begin_ = process_->log().size();
        process_.emplace(where_.begin(words));
    }
    /// All of them write into one file.
    [[nodiscard]] bool says(const std::string& text) const {
        return process_->log().find(text, log_begin_) != std::string::npos;
    }

    arena& where_;
    std::vector<std::string> first_;
    std::vector<std::string> again_;
    std::size_t log_begin_ = 0;
    std::optional<test::relay_process> process_;
};

std::string slot_confirmed(arena& where) {
    return where.session().value_of(
        "SELECT confirmed_flush_lsn FROM pg_replication_slots WHERE slot_name = 'chaos'");
}

std::string bookmark_place(arena& where) {
    return where.session().value_of(
        "SELECT confirmed_flush_lsn FROM pg_replication_slots WHERE slot_name = 'chaos_at_before'");
}

void break_one(trial& one, replaying& command, std::uint64_t victim, dice& random) {
    auto& where = one.where();
    switch (victim % 4) {
        case 0:
            command.kill();
            break;
        case 1:
            kill_leading_relay(where, random);
            break;
        case 2:
            where.postgres().stop(test::postgres_stop::immediate);
            where.postgres().start();
            break;
        default:
            where.nats().kill_9();
            where.nats().start();
            break;
    }
}

/// Until it has confirmed all that is committed.
void wait_for_slot(arena& where) {
    constexpr auto patience = 600s;
    auto session = where.session();
    const auto end = session.value_of("SELECT pg_current_wal_flush_lsn()");
    const auto is_confirmed = [&] {
        return session.value_of("SELECT confirmed_flush_lsn >= '" + end +
                                "' FROM pg_replication_slots WHERE slot_name = 'chaos'") == "t";
    };
    require(test::eventually(patience, is_confirmed), "the slot does not move");
}

/// The rows that are to be replayed, in transactions of many sizes.
void fill(trial& one) {
    constexpr std::uint64_t largest = 2000;
    constexpr auto patience = 600s;
    auto session = one.where().session();
    dice random(one.plan().seed + 1);
    for (std::uint64_t first = 1; first <= one.plan().rows;) {
        const auto last =
            std::min(one.plan().rows, first + random.between(0, random.one_in(4) ? largest : 9));
        session.execute(test::insert_events(first, last, "order-" + std::to_string(first % 97)));
        first = last + 1;
    }
    one.wait_for_marker(patience);
    wait_for_slot(one.where());
}

/// What differs between the two streams.
struct kind_of_replay {
    std::vector<std::string> begin;
    /// After it has ended; empty: as it began.
    std::vector<std::string> go_on;
    std::function<std::uint64_t(arena&)> rows_done;
    std::function<void(trial&, const range&)> judge;
};

std::uint64_t rows_written(arena& where) {
    try {
        const auto text = where.session().value_of("SELECT max(rows_written) FROM walrelay.replay");
        return text.empty() ? 0 : std::stoull(text);
    } catch (const std::runtime_error&) {
        return 0;  // there is no table yet, or no server
    }
}

/// The faults are spread over the rows of the replay.
void wait_for_turn(trial& one, const kind_of_replay& kind, replaying& command,
                   std::uint64_t count) {
    constexpr auto longest = 60s;
    const auto goal = one.plan().rows * count / (one.plan().times + 1);
    (void)test::eventually(longest, [&] {
        const bool is_there = kind.rows_done(one.where()) >= goal;
        if (!is_there) {
            command.keep_going();
        }
        return is_there;
    });
}

/// Beside writers, with all faults in turn.
void replay_under_fire(trial& one, const scenario& what, const kind_of_replay& kind) {
    auto& where = one.where();
    dice random(one.plan().seed);
    one.start();
    const auto made = where.command({"bookmark", "create", "before"});
    require(made.exit_code == 0, "no bookmark: " + made.errors);
    fill(one);
    one.start_writers();
    const auto until = slot_confirmed(where);
    auto words = kind.begin;
    words.insert(words.end(), {"--until", until, "--limit", "100000000", "--execute"});
    const auto again = kind.go_on.empty() ? words : kind.go_on;
    {
        replaying command(where, words, again);
        for (std::uint64_t count = 0; count < one.plan().times; ++count) {
            wait_for_turn(one, kind, command, count);
            pass(random.duration(0ms, what.shortest_gap));
            one.require_relays();
            break_one(one, command, count, random);
            ++one.result().times;
            one.recover();
            command.keep_going();
        }
        command.finish();
    }
    one.drain();
    one.judge();
    kind.judge(one, {as_in_position(bookmark_place(where)), as_in_position(until)});
}

outcome run_replay(const scenario& what, const storm_plan& plan,
                   const std::function<void(trial&)>& body) {
    outcome result{
        .fault = what.name, .plugin = plan.plugin, .recovery_limit = what.recovery_limit};
    auto options = options_for(plan);
    options.relays = 2;
    run_trial(plan, options, result, body);
    return result;
}

scenario under_fire(const std::string& name, const std::string& what, kind_of_replay kind) {
    return {.name = name,
            .what = what,
            .fire = {},
            .every_broker = true,
            .every_postgres = true,
            .run = [kind = std::move(kind)](const scenario& itself, const storm_plan& plan) {
                return run_replay(itself, plan,
                                  [&](trial& one) { replay_under_fire(one, itself, kind); });
            }};
}

scenario same_stream() {
    return under_fire(
        "replay_same_stream",
        "a replay into the stream itself; kills of command, leading relay and both servers",
        {.begin = {"replay", "--from", "bookmark:before"},
         .go_on = {"replay", "resume", "1"},
         .rows_done = rows_written,
         .judge = judge_same_stream});
}

scenario into_another_stream() {
    return under_fire(
        "replay_other_stream",
        "a replay into another stream; kills of command, leading relay and both servers",
        {.begin = {"replay", "--from", "bookmark:before", "--subject", other_subjects,
                   "--to-stream", other_stream},
         .go_on = {},
         .rows_done =
             [](arena& where) {
                 test::stream_reader reader(where.broker_url());
                 return reader.message_count(other_stream);
             },
         .judge = judge_other_stream});
}

// ---- the slot is put back -----------------------------------------------------------------------

/// The broker forgets what it has acked, and the slot has moved on.
void rewind(trial& one) {
    auto& where = one.where();
    begin(one);
    const auto made = where.command({"bookmark", "create", "before"});
    require(made.exit_code == 0, "no bookmark: " + made.errors);
    commit_rows(where, 1, 500);
    one.wait_for_marker(recovery_patience);
    lose_power_unguarded(where);
    const auto code = where.relay().process().wait_exit(recovery_patience);
    require(code == 3, "the relay does not stop with 3 when the broker has forgotten messages");
    const auto put_back = where.command({"replay", "--rewind", "bookmark:before", "--execute"});
    require(put_back.exit_code == 0, "the slot is not put back: " + put_back.errors);
    const auto resumed = where.command({"resume"});
    require(resumed.exit_code == 0, "walrelay resume fails: " + resumed.errors);
    where.start_relay();
    one.wait_for_marker(recovery_patience);
    stop_relay(one);
    judge_rows(one, {.ids = ids_of(where)}, response::went_on);
}

// ---- the slot takes along what a replay has written ---------------------------------------------

/// Each row of the range is replayed once.
void judge_each_once(trial& one, std::uint64_t rows) {
    std::set<std::string> seen;
    test::stream_reader reader(one.where().broker_url());
    reader.for_each(stream_name, 0, [&](const test::stored_message& message) {
        const auto position = message.header("Walrelay-Original-Position");
        if (!position.empty() && !seen.insert(position).second) {
            one.result().complaints.push_back("replayed twice: " + position);
        }
    });
    if (seen.size() != rows) {
        one.result().complaints.push_back(
            fmt::format("{} rows were replayed of {}", seen.size(), rows));
    }
}

/// Relay and command are killed between the writing of batches and their reading; the slot moves on
/// without them, by hand or because it was made again and healed.
void lose_between(trial& one, const std::string& accident) {
    constexpr std::uint64_t rows = 1500;
    auto& where = one.where();
    begin(one);
    const auto made = where.command({"bookmark", "create", "before"});
    require(made.exit_code == 0, "no bookmark: " + made.errors);
    where.session().execute(test::insert_events(1, rows));
    one.wait_for_marker(recovery_patience);
    wait_for_slot(where);
    const auto until = slot_confirmed(where);
    where.relay().kill_9();
    {
        auto command =
            where.begin({"replay", "--from", "bookmark:before", "--until", until, "--execute"});
        require(test::eventually(recovery_patience, [&] { return rows_written(where) > 0; }),
                "the replay writes nothing: " + command.log());
        command.kill_9();
    }
    require(test::eventually(recovery_patience,
                             [&] {
                                 return where.session().value_of(
                                            "SELECT count(*) FROM pg_replication_slots WHERE "
                                            "slot_name = 'chaos' AND active") == "0";
                             }),
            "the slot stays in use");
    where.session().execute(accident);
    where.start_relay();
    one.wait_for_marker(recovery_patience);
    const auto verified = where.command({"verify"});
    require(verified.exit_code == 1 &&
                verified.output.find("walrelay replay resume 1") != std::string::npos,
            "verify does not miss what was written: " + verified.output);
    const auto done = where.command({"replay", "resume", "1"});
    require(done.exit_code == 0, "the replay is not resumed: " + done.errors);
    stop_relay(one);
    const auto replayed = where.session().value_of("SELECT rows_planned FROM walrelay.replay");
    judge_each_once(one, std::stoull(replayed));
}

scenario lost_between() {
    return scenario_of(
        "replay_lost_slot",
        "a slot is moved, or lost and healed, between the writing of a replay and its reading",
        {{.name = "moved by hand",
          .run =
              [](trial& one) {
                  lose_between(one,
                               "SELECT pg_replication_slot_advance('chaos', pg_current_wal_lsn())");
              }},
         {.name = "lost and healed",
          .arrange = [](arena_options& options) { options.delivery += "on_slot_loss = 'heal'\n"; },
          .run =
              [](trial& one) { lose_between(one, "SELECT pg_drop_replication_slot('chaos')"); }}});
}

}  // namespace

std::vector<scenario> replay_scenarios() {
    return {same_stream(), into_another_stream(), lost_between(),
            scenario_of("replay_rewind",
                        "the broker forgets messages, and the slot is put back to a bookmark",
                        {{.name = "a bookmark", .run = rewind}})};
}

}  // namespace walrelay::chaos
