// See storm.hpp. All processes are started in the thread that runs the storm, as child_process
// asks.
#include "chaos/storm.hpp"

#include "chaos/writers.hpp"
#include "support/eventually.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace walrelay::chaos {
namespace {

using clock = std::chrono::steady_clock;

constexpr std::chrono::seconds recovery_patience{45};
constexpr std::chrono::seconds drain_patience{120};
constexpr std::chrono::seconds stop_patience{20};

arena_options options_for(const scenario& what, const storm_plan& plan) {
    arena_options options{.relay_program = plan.relay_program, .plugin = plan.plugin};
    if (what.arrange) {
        what.arrange(options);
    }
    return options;
}

class storm {
public:
    storm(const scenario& what, const storm_plan& plan, outcome& result)
        : what_(what), plan_(plan), result_(result), arena_(options_for(what, plan)) {}

    void run() {
        try {
            start();
            for (std::uint64_t count = 1; count <= plan_.times; ++count) {
                wait_for_turn(count);
                what_.fire(arena_, random_);
                ++result_.times;
                recover();
            }
            finish();
        } catch (const std::exception& failure) {
            result_.complaints.emplace_back(failure.what());
        }
        if (!result_.passed()) {
            const auto folder =
                plan_.logs / fmt::format("{}-{}-{}", what_.name, plan_.plugin, plan_.seed);
            arena_.keep_logs(folder);
            result_.complaints.push_back("logs: " + folder.string());
        }
    }

private:
    void start() {
        for (unsigned index = 0; index < arena_.options().relays; ++index) {
            arena_.start_relay(index);
        }
        // What is committed before the slot exists is nobody's business.
        if (!test::eventually(recovery_patience,
                              [this] { return arena_.walsender().has_value(); })) {
            throw std::runtime_error("the relay does not start");
        }
        wait_for_marker(recovery_patience);
        watch_.emplace(arena_.conninfo(), arena_.broker_url());
        writers_.emplace(arena_.conninfo(), writing{.writers = plan_.writers,
                                                    .seed = plan_.seed,
                                                    .rows_per_second = plan_.rows_per_second});
    }

    void require_relays() {
        if (!arena_.relays_run()) {
            throw std::runtime_error("the relay has ended by itself");
        }
    }

    /// The faults are spread over the rows, at moments that the seed decides.
    void wait_for_turn(std::uint64_t count) {
        const auto goal = plan_.rows * count / (plan_.times + 1);
        wait_for_rows(goal);
        if (!test::throughout(random_.duration(what_.shortest_gap, what_.longest_gap),
                              [this] { return arena_.relays_run(); })) {
            require_relays();
        }
    }

    void wait_for_rows(std::uint64_t goal) {
        const auto patience = std::chrono::seconds(60 + goal * 5 / plan_.rows_per_second);
        const bool written = test::eventually(
            patience, [&] { return writers_->rows() >= goal || !arena_.relays_run(); });
        require_relays();
        if (!written) {
            throw std::runtime_error("the writers do not get on");
        }
    }

    /// Commits a row and waits until it is in the stream, and with it all that was committed
    /// before.
    void wait_for_marker(std::chrono::seconds patience) {
        std::string subject;
        const auto committed = [&] {
            try {
                subject = arena_.commit_marker();
                return true;
            } catch (const std::runtime_error&) {
                return false;  // PostgreSQL is still away, or again
            }
        };
        const bool stored =
            test::eventually(patience, committed) && test::eventually(patience, [&] {
                return arena_.is_stored(subject) || !arena_.relays_run();
            });
        require_relays();
        if (!stored) {
            throw std::runtime_error(fmt::format("a row is not in the stream after {} s (fault {})",
                                                 patience.count(), result_.times));
        }
    }

    void recover() {
        const auto gone = clock::now();
        wait_for_marker(recovery_patience);
        const auto took =
            std::chrono::duration_cast<std::chrono::milliseconds>(clock::now() - gone);
        recoveries_.push_back(took);
        result_.longest_recovery = std::max(result_.longest_recovery, took);
    }

    void finish() {
        wait_for_rows(plan_.rows);
        writers_->stop();
        wait_for_marker(drain_patience);
        watch_->stop();
        for (unsigned index = 0; index < arena_.options().relays; ++index) {
            if (arena_.relay(index).stop(stop_patience) != 0) {
                result_.complaints.emplace_back("the relay does not end with 0 on SIGTERM");
            }
        }
        result_.found = audit(arena_, {.order = order_, .watch = *watch_});
        std::sort(recoveries_.begin(), recoveries_.end());
        if (!recoveries_.empty()) {
            result_.middle_recovery = recoveries_[recoveries_.size() / 2];
        }
    }

    const scenario& what_;
    const storm_plan& plan_;
    outcome& result_;
    arena arena_;
    test::commit_order order_{arena_.postgres(), arena_.database()};
    dice random_{plan_.seed};
    std::optional<confirmed_watch> watch_;
    std::optional<writers> writers_;
    std::vector<std::chrono::milliseconds> recoveries_;
};

}  // namespace

outcome run_storm(const scenario& what, const storm_plan& plan) {
    const auto started = clock::now();
    outcome result{.fault = what.name, .plugin = plan.plugin};
    try {
        storm(what, plan, result).run();
    } catch (const std::exception& failure) {
        result.complaints.emplace_back(failure.what());
    }
    result.took = std::chrono::duration_cast<std::chrono::seconds>(clock::now() - started);
    return result;
}

}  // namespace walrelay::chaos
