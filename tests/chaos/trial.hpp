// One arena with its witnesses, from the start of the relay to the judge's word. What happens in
// between is the business of who uses it.
#pragma once

#include "chaos/arena.hpp"
#include "chaos/audit.hpp"
#include "chaos/confirmed_watch.hpp"
#include "chaos/report.hpp"
#include "chaos/writers.hpp"
#include "support/commit_order.hpp"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace walrelay::chaos {

/// Without it for so long, a row is taken for not coming at all.
inline constexpr std::chrono::seconds recovery_patience{90};

struct storm_plan {
    std::filesystem::path relay_program;
    std::string plugin;
    std::uint64_t times = 1;
    /// At least so many are committed while it goes on; the faults are spread over them.
    std::uint64_t rows = 1000;
    unsigned writers = 4;
    std::uint64_t rows_per_second = 2000;
    std::uint64_t seed = 1;
    /// Empty is the usual version.
    std::filesystem::path postgres_programs{};
    /// Logs of a run that fails are kept in a folder of its own below this.
    std::filesystem::path logs;
};

/// All functions throw std::runtime_error where something does not come about in time, or a relay
/// ends by itself. Used from one thread, which starts all processes, as child_process asks.
class trial {
public:
    trial(const storm_plan& plan, const arena_options& options, outcome& result);

    [[nodiscard]] arena& where() { return arena_; }
    [[nodiscard]] const storm_plan& plan() const { return plan_; }
    [[nodiscard]] outcome& result() { return result_; }

    /// Returns once a relay streams from the slot and a first row has come through.
    void start();
    void start_writers();
    void stop_writers();
    void wait_for_rows(std::uint64_t goal);
    void require_relays();
    /// Commits a row and waits until it is in the stream, and with it all that was committed
    /// before.
    void wait_for_marker(std::chrono::milliseconds patience);
    /// The same, and notes how long it took: the cause of a fault is gone.
    void recover();
    /// Stops the writers, waits for the last row, stops the relays.
    void drain();
    /// Everything has stopped. `set_aside` are rows that may not be in the stream.
    void judge(const std::set<std::string>& set_aside = {});
    /// Once a trial has failed.
    void keep_logs(const std::string& name);

private:
    const storm_plan& plan_;
    outcome& result_;
    arena arena_;
    test::commit_order order_;
    std::optional<confirmed_watch> watch_;
    std::optional<writers> writers_;
    std::vector<std::chrono::milliseconds> recoveries_;
};

[[nodiscard]] arena_options options_for(const storm_plan& plan);

/// Runs `body` in a trial. What it throws becomes a complaint, and the logs of a failure are kept.
void run_trial(const storm_plan& plan, const arena_options& options, outcome& result,
               const std::function<void(trial&)>& body);

}  // namespace walrelay::chaos
