// See soak_run.hpp.
#include "soak/soak_run.hpp"

#include "soak/disturbances.hpp"
#include "soak/slow_reader.hpp"
#include "support/eventually.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace walrelay::soak {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using steady = std::chrono::steady_clock;

class run {
public:
    run(const soak_plan& plan, const std::function<void(const std::string&)>& say,
        soak_outcome& outcome)
        : plan_(plan),
          say_(say),
          outcome_(outcome),
          arena_(arena_for(plan.relay_program, plan.plugin)),
          log_(arena_.folder() / "relay-0.stderr", plan.how.log_pause, diary_, plan.seed) {}

    void start() {
        make_tables(arena_, plan_.how);
        arena_.start_relay();
        constexpr seconds patience{60};
        require(test::eventually(patience,
                                 [this] { return arena_.walsender() || !arena_.relays_run(); }),
                "the relay does not start");
        call_witness(arena_);
        wait_for_marker(patience, "the first row");
    }

    /// Everything at once, until the time is over.
    void go_on() {
        slot_watch watch(arena_.conninfo());
        steady_writers writers(arena_.conninfo(), plan_.rows_per_second, plan_.seed);
        disturbances others(arena_.conninfo(), plan_.how, diary_, plan_.seed);
        try {
            restart_from_time_to_time(writers);
        } catch (const std::runtime_error& failure) {
            outcome_.complaints.emplace_back(failure.what());
        }
        others.stop();
        writers.stop();
        outcome_.all.rows = writers.rows();
        try {
            drain();
        } catch (const std::runtime_error& failure) {
            outcome_.complaints.emplace_back(failure.what());
        }
        outcome_.all.ended = clock::now();
        watch.stop();
        outcome_.all.stands = watch.stands();
        outcome_.all.sessions = watch.sessions();
    }

    void judge_all() {
        constexpr seconds patience{60};
        if (arena_.relays_run() && arena_.relay().stop(patience) != 0) {
            outcome_.complaints.emplace_back("the relay does not end with 0 on SIGTERM");
        }
        log_.finish();
        outcome_.all.log = log_.lines();
        outcome_.all.diary = diary_.entries();
        outcome_.all.expected = ask_witness(arena_);
        outcome_.found = judge(arena_, outcome_.all, plan_.bounds);
        compare_dead_letters();
        look_for_unwritten();
        look_for_slow_stops();
    }

    void keep_logs() {
        const auto folder = plan_.logs / fmt::format("soak-{}-{}", plan_.plugin, plan_.seed);
        std::filesystem::create_directories(folder);
        std::ofstream(folder / "relay.log", std::ios::binary) << log_.text();
        std::ofstream(folder / "postgres.log", std::ios::binary) << arena_.postgres().log();
        std::ofstream sessions(folder / "sessions.log", std::ios::binary);
        for (const auto& sample : outcome_.all.sessions) {
            sessions << time_of_day(sample.when) << "\n" << sample.text;
        }
        std::ofstream events(folder / "diary.log", std::ios::binary);
        for (const auto& entry : outcome_.all.diary) {
            events << time_of_day(entry.when.begin) << " " << time_of_day(entry.when.end) << " "
                   << entry.kind << "\n";
        }
        for (const auto& fault : outcome_.all.restarts) {
            events << time_of_day(fault.begun) << " " << time_of_day(fault.over) << " "
                   << fault.kind << "\n";
        }
        say_("logs: " + folder.string());
    }

private:
    static void require(bool holds, const std::string& otherwise) {
        if (!holds) {
            throw std::runtime_error(otherwise);
        }
    }

    void require_relay() {
        if (!arena_.relays_run()) {
            throw std::runtime_error(arena_.ended_relays());
        }
    }

    void restart_from_time_to_time(const steady_writers& writers) {
        chaos::dice random(plan_.seed);
        const auto end = steady::now() + plan_.duration;
        auto told = steady::now();
        for (auto number = plan_.first_restart;; ++number) {
            const auto& gap = plan_.how.between_restarts;
            const auto due = steady::now() + random.duration(gap.shortest, gap.longest);
            while (steady::now() < std::min(due, end)) {
                constexpr milliseconds look{200};
                (void)test::throughout(look, [this] { return arena_.relays_run(); });
                require_relay();
                if (plan_.canary && !stood_still_ && steady::now() > end - plan_.duration / 2) {
                    stand_still();
                }
                if (steady::now() - told > std::chrono::minutes(1)) {
                    told = steady::now();
                    tell(writers);
                }
            }
            if (due >= end) {
                return;
            }
            outcome_.all.restarts.push_back(restart(arena_, number));
        }
    }

    void stand_still() {
        stood_still_ = true;
        arena_.relay().process().signal(SIGSTOP);
        (void)test::throughout(plan_.bounds.wait + seconds(2), [] { return true; });
        arena_.relay().process().signal(SIGCONT);
    }

    void tell(const steady_writers& writers) {
        say_(fmt::format(
            "{} {}: {} messages of rows were committed, the stream has {}",
            time_of_day(clock::now()), plan_.plugin, writers.count(),
            test::stream_reader(arena_.broker_url()).message_count(chaos::stream_name)));
    }

    void wait_for_marker(seconds patience, const std::string& what) {
        const auto subject = arena_.commit_marker();
        const bool stored = test::eventually(
            patience, [&] { return arena_.is_stored(subject) || !arena_.relays_run(); });
        require_relay();
        require(stored, fmt::format("{} is not in the stream after {} s", what, patience.count()));
    }

    /// The last row is stored, all are written back, and the slot has come past them.
    void drain() {
        constexpr seconds patience{60};
        const auto end = arena_.session().value_of("SELECT pg_current_wal_lsn()");
        wait_for_marker(patience, "the last row");
        const auto passed = [&] {
            return arena_.session().value_of(
                       fmt::format("SELECT confirmed_flush_lsn > '{}' FROM pg_replication_slots "
                                   "WHERE slot_name = '{}'",
                                   end, chaos::slot_name)) == "t";
        };
        require(test::eventually(patience, passed), "the slot does not come to the last row");
    }

    void compare_dead_letters() {
        const auto there = dead_letters(arena_);
        const auto& wanted = outcome_.all.expected.dead;
        std::vector<std::string> odd;
        std::set_symmetric_difference(there.begin(), there.end(), wanted.begin(), wanted.end(),
                                      std::back_inserter(odd));
        if (!odd.empty()) {
            outcome_.complaints.push_back(
                fmt::format("{} dead letters, {} expected; {} of one side alone, such as {}",
                            there.size(), wanted.size(), odd.size(), odd.front()));
        }
    }

    void look_for_unwritten() {
        const auto left = arena_.session().value_of(
            "SELECT count(*) FROM outbox_events WHERE status = 'pending'"
            " OR (aggregate_id = 'poison') <> (status = 'dead')");
        const auto kept = arena_.session().value_of(
            "SELECT count(*) FROM outbox_tasks WHERE aggregate_id = 'good'");
        if (left != "0" || kept != "0") {
            outcome_.complaints.push_back(fmt::format(
                "{} rows of outbox_events have the wrong status, {} of outbox_tasks are not "
                "deleted",
                left, kept));
        }
    }

    void look_for_slow_stops() {
        for (const auto& fault : outcome_.all.restarts) {
            const period stop{fault.begun, fault.over};
            const bool has_reason = std::any_of(
                outcome_.all.diary.begin(), outcome_.all.diary.end(), [&](const diary_entry& each) {
                    return holds_write_backs(each.kind) && overlap(each.when, stop);
                });
            if (fault.kind == stop_of_relay && !has_reason && stop.end - stop.begin > stop_limit) {
                outcome_.complaints.push_back(fmt::format(
                    "at {} walrelay needs {} ms to end on SIGTERM, and no row is locked",
                    time_of_day(stop.begin),
                    std::chrono::duration_cast<milliseconds>(stop.end - stop.begin).count()));
            }
        }
    }

    const soak_plan& plan_;
    const std::function<void(const std::string&)>& say_;
    soak_outcome& outcome_;
    diary diary_;
    chaos::arena arena_;
    slow_reader log_;
    bool stood_still_ = false;
};

}  // namespace

soak_outcome run_soak(const soak_plan& plan, const std::function<void(const std::string&)>& say) {
    soak_outcome outcome{
        .plugin = plan.plugin, .all = {}, .found = {}, .bounds = plan.bounds, .complaints = {}};
    const auto begun = steady::now();
    try {
        run one(plan, say, outcome);
        one.start();
        one.go_on();
        outcome.took = std::chrono::duration_cast<seconds>(steady::now() - begun);
        one.judge_all();
        if (!outcome.passed()) {
            one.keep_logs();
        }
    } catch (const std::exception& failure) {
        outcome.complaints.emplace_back(failure.what());
    }
    return outcome;
}

}  // namespace walrelay::soak
