// See special_scenarios.hpp.
#include "chaos/special_scenarios.hpp"

#include "chaos/transaction_maker.hpp"
#include "chaos/trial.hpp"
#include "support/eventually.hpp"
#include "support/outbox_events.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <stdexcept>

namespace walrelay::chaos {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t first_odd_row = 800'000'000'000;

/// Texts that are none of a subject's tokens, nor of a header's values.
std::string odd_text(dice& random) {
    const std::array<std::string, 14> texts{"",
                                            " ",
                                            "a b",
                                            "a.b",
                                            "*",
                                            ">",
                                            "a\r\nPUB x 1\r\n\r\n",
                                            "\x01\x7f",
                                            "..",
                                            "$JS.API.>",
                                            "\t",
                                            "\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80",
                                            "Nats-Msg-Id: 1",
                                            std::string(200, 'x')};
    return texts.at(random.between(0, texts.size() - 1));
}

struct odd_rows {
    std::set<std::string> too_large{};
    std::uint64_t next = first_odd_row;
};

/// A usual row, an odd one, and now and then one that no broker here takes.
std::string odd_transaction(odd_rows& rows, dice& random) {
    constexpr std::uint64_t one_of = 4;
    constexpr int large_bytes = 70000;
    std::string sql = "BEGIN; ";
    for (auto left = random.between(1, 5); left > 0; --left) {
        const auto number = rows.next++;
        const bool large = random.one_in(one_of);
        if (large) {
            rows.too_large.insert(test::event_id(number));
        }
        sql +=
            "INSERT INTO outbox_events (id, aggregate_id, aggregate_type, event_type,"
            " event_data, status, version, created_at) VALUES ('" +
            test::event_id(number) + "', " + test::as_literal("odd" + odd_text(random)) +
            ", 'order', " + test::as_literal(odd_text(random)) +
            ", jsonb_build_object('large', repeat('x', " +
            std::to_string(large ? large_bytes : 10) + ")), 'pending', 1, now()); ";
    }
    return sql + "COMMIT";
}

std::set<std::string> dead_letters(arena& where) {
    std::set<std::string> ids;
    // Without a message id where the row could not become a message at all.
    for (const auto& row : where.session().query(
             "SELECT coalesce(message_id, (SELECT c->>'value' FROM json_array_elements(event) AS c"
             " WHERE c->>'name' = 'id')) FROM walrelay.dead_letter")) {
        ids.insert(row.front().value_or(""));
    }
    return ids;
}

void expect_set_aside(trial& one, const odd_rows& rows, const std::set<std::string>& dead) {
    for (const auto& id : rows.too_large) {
        if (!dead.contains(id)) {
            one.result().complaints.push_back("too large, and not in the dead letters: " + id);
            return;
        }
    }
    for (const auto& id : dead) {
        if (id < test::event_id(first_odd_row) || id >= test::event_id(rows.next)) {
            one.result().complaints.push_back("a good row is in the dead letters: " + id);
            return;
        }
    }
}

void poison(trial& one) {
    dice random(one.plan().seed);
    odd_rows rows;
    one.start();
    one.start_writers();
    while (one.result().times < one.plan().times) {
        one.where().session().execute(odd_transaction(rows, random));
        one.result().times = rows.next - first_odd_row;
    }
    one.recover();
    one.drain();
    const auto dead = dead_letters(one.where());
    expect_set_aside(one, rows, dead);
    one.judge(dead);
}

outcome run_poison(const scenario& what, const storm_plan& plan) {
    outcome result{.fault = what.name, .plugin = plan.plugin};
    auto options = options_for(plan);
    options.delivery = "on_poison = 'dead_letter'\n";
    options.nats_settings = {"max_payload: 65536"};
    run_trial(plan, options, result, poison);
    return result;
}

/// Neither may end; one of them leads, the other waits.
void first_start(trial& one) {
    auto& where = one.where();
    where.start_relay(0);
    where.start_relay(1);
    const bool streams = test::eventually(
        recovery_patience, [&] { return !where.relays_run() || where.walsender().has_value(); });
    if (!streams || !test::throughout(1s, [&] { return where.relays_run(); })) {
        throw std::runtime_error("one of two relays that start for the first time has ended");
    }
    one.recover();
    ++one.result().times;
}

outcome run_first_start(const scenario& what, const storm_plan& plan) {
    outcome result{.fault = what.name, .plugin = plan.plugin};
    auto options = options_for(plan);
    options.relays = 2;
    while (result.times < plan.times && result.complaints.empty()) {
        run_trial(plan, options, result, first_start);
    }
    return result;
}

/// A stranger's messages are in the stream, and at that place the order of others is not promised,
/// by which it is told what was confirmed when.
void forgive_strangers(trial& one) {
    auto& found = one.result().found;
    if (found.phantom == one.result().times) {
        found.phantom = 0;
        found.inverted = 0;
        found.confirmed_early = 0;
    }
}

void strangers(trial& one) {
    dice random(one.plan().seed);
    one.start();
    one.start_writers();
    test::stream_reader stranger(one.where().broker_url());
    while (one.result().times < one.plan().times) {
        pass(random.duration(0ms, 200ms));
        stranger.publish("chaos.stranger.word", "{}",
                         {{"Nats-Msg-Id", "stranger-" + std::to_string(++one.result().times)}});
    }
    one.recover();
    one.drain();
    one.judge();
    forgive_strangers(one);
}

outcome run_strangers(const scenario& what, const storm_plan& plan) {
    outcome result{.fault = what.name, .plugin = plan.plugin};
    run_trial(plan, options_for(plan), result, strangers);
    return result;
}

/// The relay goes on from where it is; what is gone is gone.
void purge(trial& one) {
    one.start();
    one.start_writers();
    while (one.result().times < one.plan().times) {
        pass(300ms);
        test::stream_reader(one.where().broker_url()).purge(stream_name);
        ++one.result().times;
        one.recover();
    }
    one.drain();
    one.judge();
    // The stream begins in the middle of a transaction.
    auto& inverted = one.result().found.inverted;
    inverted -= std::min<std::uint64_t>(inverted, 1);
}

outcome run_purge(const scenario& what, const storm_plan& plan) {
    outcome result{.fault = what.name, .plugin = plan.plugin, .reported = "goes on"};
    run_trial(plan, options_for(plan), result, purge);
    return result;
}

/// Until the broker has forgotten the ids, and takes them again.
void outlast_duplicate_window() {
    pass(500ms);
}

/// What the judge must see: a lost row, a doubled one, a wrong order, a stranger, another body.
void tamper(arena& where) {
    test::stream_reader reader(where.broker_url());
    const auto messages = reader.read(stream_name);
    reader.delete_message(stream_name, messages.at(1).sequence);
    const auto& first = messages.front();
    // Without the header that fences strangers out.
    const std::map<std::string, std::string> headers{
        {"Nats-Msg-Id", first.header("Nats-Msg-Id")},
        {"Walrelay-Position", first.header("Walrelay-Position")},
        {"Aggregate", first.header("Aggregate")}};
    outlast_duplicate_window();
    reader.publish(first.subject, first.body, headers);
    outlast_duplicate_window();
    reader.publish(first.subject, "{}", headers);
    reader.publish(first.subject, first.body, {{"Nats-Msg-Id", "stranger"}});
}

void judge_the_judge(trial& one) {
    constexpr int rows = 10;
    one.start();
    for (int count = 0; count < rows; ++count) {
        one.wait_for_marker(recovery_patience);
    }
    one.drain();
    tamper(one.where());
    one.judge();
    auto& found = one.result().found;
    const bool sees_all = found.lost == 1 && found.duplicated == 2 && found.inverted >= 3 &&
                          found.phantom == 1 && found.altered == 1;
    if (!sees_all) {
        one.result().complaints.emplace_back(
            "the judge does not see all that was done to the stream");
        return;
    }
    found = {.rows = found.rows};
    ++one.result().times;
}

outcome run_canary(const scenario& what, const storm_plan& plan) {
    outcome result{.fault = what.name, .plugin = plan.plugin, .reported = "seen"};
    auto options = options_for(plan);
    options.duplicate_window = 100ms;
    run_trial(plan, options, result, judge_the_judge);
    return result;
}

}  // namespace

std::vector<scenario> special_scenarios() {
    constexpr std::uint64_t odd_rows_in_long_form = 4000;
    return {
        {.name = "canary",
         .what = "somebody tampers with the stream: the judge must see all of it",
         .fire = {},
         .long_times = 2,
         .run = run_canary},
        {.name = "first_start_race",
         .what = "two relays start for the first time at once: both must live",
         .fire = {},
         .run = run_first_start},
        {.name = "stranger_writes",
         .what = "somebody else writes in between: at least once, no order at that place",
         .fire = {},
         .long_times = 40,
         .run = run_strangers},
        {.name = "stream_purged",
         .what = "the stream is purged while rows are written: none that comes later is lost",
         .fire = {},
         .run = run_purge},
        {.name = "poison_rows",
         .what = "odd subjects and headers, and payloads above max_payload: N rows of these",
         .fire = {},
         .long_times = odd_rows_in_long_form,
         .run = run_poison},
    };
}

}  // namespace walrelay::chaos
