// See trial.hpp.
#include "chaos/trial.hpp"

#include "support/eventually.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace walrelay::chaos {
namespace {

using clock = std::chrono::steady_clock;

constexpr std::chrono::seconds drain_patience{120};
constexpr std::chrono::seconds stop_patience{60};

}  // namespace

trial::trial(const storm_plan& plan, const arena_options& options, outcome& result)
    : plan_(plan), result_(result), arena_(options), order_(arena_.postgres(), arena_.database()) {}

void trial::start() {
    arena_.start_relay();
    // What is committed before the slot exists is nobody's business.
    const bool streams = test::eventually(recovery_patience, [this] {
        return arena_.walsender().has_value() || !arena_.relays_run();
    });
    require_relays();
    if (!streams) {
        throw std::runtime_error("the relay does not start");
    }
    for (unsigned index = 1; index < arena_.options().relays; ++index) {
        arena_.start_relay(index);
    }
    wait_for_marker(recovery_patience);
    watch_.emplace(arena_.conninfo(), arena_.broker_url());
}

void trial::start_writers() {
    writers_.emplace(arena_.conninfo(), writing{.writers = plan_.writers,
                                                .seed = plan_.seed,
                                                .rows_per_second = plan_.rows_per_second});
}

void trial::stop_writers() {
    if (writers_) {
        writers_->stop();
    }
}

void trial::require_relays() {
    if (!arena_.relays_run()) {
        throw std::runtime_error(arena_.ended_relays());
    }
}

void trial::wait_for_rows(std::uint64_t goal) {
    const auto patience = std::chrono::seconds(60 + goal * 5 / plan_.rows_per_second);
    const bool written = test::eventually(
        patience, [&] { return writers_->rows() >= goal || !arena_.relays_run(); });
    require_relays();
    if (!written) {
        throw std::runtime_error("the writers do not get on");
    }
}

void trial::wait_for_marker(std::chrono::milliseconds patience) {
    std::string subject;
    const auto committed = [&] {
        try {
            subject = arena_.commit_marker();
            return true;
        } catch (const std::runtime_error&) {
            return false;  // PostgreSQL is still away, or again
        }
    };
    const bool stored = test::eventually(patience, committed) && test::eventually(patience, [&] {
                            return arena_.is_stored(subject) || !arena_.relays_run();
                        });
    require_relays();
    if (!stored) {
        throw std::runtime_error(fmt::format("a row is not in the stream after {} ms (fault {})",
                                             patience.count(), result_.times));
    }
}

void trial::recover() {
    const auto gone = clock::now();
    wait_for_marker(recovery_patience);
    const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(clock::now() - gone);
    recoveries_.push_back(took);
    result_.longest_recovery = std::max(result_.longest_recovery, took);
}

void trial::drain() {
    stop_writers();
    wait_for_marker(drain_patience);
    watch_->stop();
    for (unsigned index = 0; index < arena_.options().relays; ++index) {
        if (arena_.relay(index).stop(stop_patience) != 0) {
            result_.complaints.emplace_back("the relay does not end with 0 on SIGTERM");
        }
    }
}

void trial::judge(const std::set<std::string>& set_aside) {
    watch_->stop();
    std::sort(recoveries_.begin(), recoveries_.end());
    if (!recoveries_.empty()) {
        result_.middle_recovery = recoveries_[recoveries_.size() / 2];
    }
    result_.found.add(audit(arena_, {.order = order_, .watch = *watch_, .set_aside = set_aside}));
}

void trial::keep_logs(const std::string& name) {
    const auto folder = plan_.logs / fmt::format("{}-{}-{}", name, plan_.plugin, plan_.seed);
    arena_.keep_logs(folder);
    result_.logs = folder.string();
}

arena_options options_for(const storm_plan& plan) {
    return {.relay_program = plan.relay_program,
            .plugin = plan.plugin,
            .postgres_programs = plan.postgres_programs};
}

void run_trial(const storm_plan& plan, const arena_options& options, outcome& result,
               const std::function<void(trial&)>& body) {
    try {
        trial one(plan, options, result);
        try {
            body(one);
        } catch (const std::exception& failure) {
            result.complaints.emplace_back(failure.what());
        }
        if (!result.passed()) {
            one.keep_logs(result.fault);
        }
    } catch (const std::exception& failure) {
        result.complaints.emplace_back(failure.what());
    }
}

}  // namespace walrelay::chaos
