// See position_stage.hpp.
#include "chaos/position_stage.hpp"

#include "support/comparison.hpp"
#include "support/eventually.hpp"
#include "support/outbox_events.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace walrelay::chaos {
namespace {

using namespace std::chrono_literals;

constexpr std::chrono::seconds patience{90};
constexpr int operator_must_decide = 3;

void run_variant(const variant& chosen, const storm_plan& plan, outcome& result) {
    auto options = options_for(plan);
    if (chosen.arrange) {
        chosen.arrange(options);
    }
    outcome one{.fault = result.fault + "-" + std::to_string(result.times), .plugin = plan.plugin};
    run_trial(plan, options, one, chosen.run);
    for (const auto& complaint : one.complaints) {
        // The log of a server is kept with the others.
        constexpr std::size_t longest = 1200;
        result.complaints.push_back(chosen.name + ": " + complaint.substr(0, longest));
    }
    if (!result.found.details.empty()) {
        one.found.details.clear();  // those of the first failure are enough
    }
    result.found.add(one.found);
    if (!one.reported.empty()) {
        result.reported = one.reported;
    }
    ++result.times;
}

bool says_one_of(const std::string& text, const std::vector<std::string>& words) {
    return words.empty() || std::any_of(words.begin(), words.end(), [&](const std::string& word) {
               return text.find(word) != std::string::npos;
           });
}

void judge_ending(trial& one, const std::vector<std::string>& causes, std::size_t log_begin) {
    const auto code = one.where().relay().process().wait_exit(patience);
    require(code == operator_must_decide,
            fmt::format("the relay ends with {}, not with 3", code.value_or(-1)));
    const auto log = one.where().relay_log();
    const auto said = log.substr(std::min(log_begin, log.size()));
    require(says_one_of(said, {"fix: "}), "the relay does not say what fixes it");
    const auto last_lines = said.substr(said.size() - std::min<std::size_t>(said.size(), 900));
    require(says_one_of(said, causes), "the relay names another cause: " + last_lines);
    one.result().reported = "exit 3";
}

std::string dead_letters_of(arena& where) {
    auto session = where.session();
    return session.value_of("SELECT to_regclass('walrelay.dead_letter') IS NULL") == "t"
               ? "0"
               : session.value_of("SELECT count(*) FROM walrelay.dead_letter");
}

}  // namespace

scenario scenario_of(const std::string& name, const std::string& what,
                     const std::vector<variant>& variants) {
    const auto run = [variants](const scenario& itself, const storm_plan& plan) {
        outcome result{.fault = itself.name, .plugin = plan.plugin};
        while (result.times < plan.times) {
            run_variant(variants[result.times % variants.size()], plan, result);
        }
        return result;
    };
    return {.name = name,
            .what = what,
            .fire = {},
            .usual_times = variants.size(),
            .long_times = variants.size(),
            .run = run};
}

void require(bool condition, const std::string& what) {
    if (!condition) {
        throw std::runtime_error(what);
    }
}

void begin(trial& one) {
    auto& where = one.where();
    where.start_relay();
    // What is committed before the slot exists is nobody's business.
    const bool streams = test::eventually(
        patience, [&] { return where.walsender().has_value() || !where.relays_run(); });
    require(streams && where.relays_run(), "the relay does not start: " + where.ended_relays());
    one.wait_for_marker(patience);
}

void commit_rows(arena& where, std::uint64_t first, std::uint64_t last) {
    auto session = where.session();
    for (auto number = first; number <= last; ++number) {
        session.execute(test::insert_event(number));
    }
}

void wait_for_messages(arena& where, std::uint64_t count) {
    test::stream_reader reader(where.broker_url());
    require(reader.wait_for(stream_name, count, patience),
            fmt::format("the stream does not get {} messages", count));
}

void stop_relay(trial& one) {
    const auto code = one.where().relay().stop(recovery_patience);
    require(code == 0, "the relay does not end with 0 on SIGTERM");
}

response meet(trial& one, const std::vector<std::string>& causes, std::size_t log_begin) {
    auto& where = one.where();
    const auto subject = where.commit_marker();
    const auto ended = [&] { return !where.relay().process().running(); };
    const bool settled =
        test::eventually(patience, [&] { return where.is_stored(subject) || ended(); });
    if (ended()) {
        judge_ending(one, causes, log_begin);
        return response::stopped;
    }
    if (!settled) {
        one.result().complaints.emplace_back(
            "the relay neither stops nor gets a new row into the stream");
    }
    return response::went_on;
}

response meet_and_fix(trial& one, const std::vector<std::string>& causes, std::size_t log_begin) {
    constexpr const char* fix = "--accept-history";
    const auto answer = meet(one, causes, log_begin);
    if (answer == response::went_on ||
        one.where().relay_log().find(fix, log_begin) == std::string::npos) {
        return answer;
    }
    one.where().start_relay(0, {fix});
    one.wait_for_marker(patience);
    one.result().reported = "exit 3, fixed";
    return response::went_on;
}

std::vector<std::string> ids_of(arena& where, const std::vector<std::string>& tables) {
    std::string all;
    for (const auto& table : tables) {
        all +=
            (all.empty() ? "" : " UNION ALL ") + ("SELECT id, created_at, version FROM " + table);
    }
    std::vector<std::string> ids;
    for (const auto& row : where.session().query("SELECT id FROM (" + all +
                                                 ") AS rows ORDER BY created_at, version")) {
        ids.push_back(row.front().value());
    }
    return ids;
}

std::set<std::string> ids_in_stream(arena& where) {
    std::set<std::string> ids;
    test::stream_reader reader(where.broker_url());
    reader.for_each(stream_name, 0, [&](const test::stored_message& message) {
        ids.insert(message.header("Nats-Msg-Id"));
    });
    return ids;
}

std::set<std::string> without(const std::vector<std::string>& these,
                              const std::vector<std::string>& those) {
    std::set<std::string> left(these.begin(), these.end());
    for (const auto& id : those) {
        left.erase(id);
    }
    return left;
}

void judge_rows(trial& one, const expected_rows& expected, response how) {
    auto& where = one.where();
    test::running_comparison comparison(expected.ids, test::ordinals::rising);
    test::stream_reader reader(where.broker_url());
    if (reader.state(stream_name)) {
        reader.for_each(stream_name, 0, [&](const test::stored_message& message) {
            const auto event = test::seen(message);
            if (!expected.excused.contains(event.id)) {
                comparison.look_at(event);
            }
        });
    }
    auto found = comparison.finish();
    if (how == response::stopped) {
        found.missing.clear();
    }
    if (!expected.in_order) {
        found.out_of_order.clear();
    }
    verdict result{.rows = expected.ids.size(),
                   .lost = found.missing.size(),
                   .duplicated = found.twice.size(),
                   .inverted = found.out_of_order.size(),
                   .phantom = found.unexpected.size()};
    if (!result.flawless()) {
        result.details = test::to_string(found);
        one.result().complaints.push_back(
            fmt::format("of {} rows lost {} duplicated {} inverted {} foreign {}", result.rows,
                        result.lost, result.duplicated, result.inverted, result.phantom));
    }
    one.result().found.add(result);
    if (const auto dead = dead_letters_of(where); dead != "0") {
        one.result().complaints.push_back(dead + " good rows are dead letters");
    }
}

}  // namespace walrelay::chaos
