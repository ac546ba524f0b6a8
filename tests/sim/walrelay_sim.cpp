#include "sim/walrelay_sim.hpp"

#include "sim/simulation.hpp"

#include <CLI/CLI.hpp>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <iostream>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

namespace walrelay::sim {
namespace {

struct options {
    std::uint64_t seeds = 10000;
    std::uint64_t first_seed = 1;
    std::optional<std::uint64_t> seed;
    bool trace = false;
    bool expect_violation = false;
    canary defect = canary::none;
    unsigned threads = 2;
};

const std::map<std::string, canary> canaries{
    {"none", canary::none},
    {"no_expectation", canary::no_expectation},
    {"no_tail", canary::no_tail},
    {"acks_everything", canary::acks_everything},
};

// For the handler of SIGABRT, which an assertion of the relay raises.
thread_local std::uint64_t seed_of_this_thread = 0;
bool violation_is_expected = false;

extern "C" void on_abort(int) {
    // Raised by this thread itself, so that the trace can still be written.
    std::cout.flush();
    if (violation_is_expected) {
        std::fputs("caught by an assertion of the relay\n", stderr);
        std::_Exit(0);
    }
    std::fprintf(stderr, "seed %llu broke an assertion; replay it: ./dev sim --seed %llu --trace\n",
                 static_cast<unsigned long long>(seed_of_this_thread),
                 static_cast<unsigned long long>(seed_of_this_thread));
    std::_Exit(1);
}

/// Of many seeds, by several threads.
class tally {
public:
    explicit tally(const options& wanted) : options_(wanted) {}

    void run() {
        std::vector<std::thread> threads;
        for (unsigned index = 0; index < options_.threads; ++index) {
            threads.emplace_back([this] { work(); });
        }
        for (auto& each : threads) {
            each.join();
        }
    }
    [[nodiscard]] int report() const;

private:
    void work() {
        while (!failed_) {
            const auto number = next_++;
            if (number >= options_.seeds) {
                return;
            }
            const auto seed = options_.first_seed + number;
            seed_of_this_thread = seed;
            note(seed, simulate(seed, options_.defect, nullptr));
        }
    }
    void note(std::uint64_t seed, const verdict& reached);

    const options& options_;
    std::atomic<std::uint64_t> next_{0};
    std::atomic<bool> failed_{false};
    std::mutex mutex_;
    std::uint64_t done_ = 0;
    std::uint64_t rows_ = 0;
    std::uint64_t lost_by_the_broker_ = 0;
    sim_time simulated_{0};
    sim_time longest_recovery_{0};
    std::uint64_t longest_recovery_seed_ = 0;
};

void tally::note(std::uint64_t seed, const verdict& reached) {
    const std::lock_guard lock(mutex_);
    ++done_;
    rows_ += reached.rows;
    lost_by_the_broker_ += reached.lost_by_the_broker;
    simulated_ += reached.simulated;
    if (reached.recovery > longest_recovery_) {
        longest_recovery_ = reached.recovery;
        longest_recovery_seed_ = seed;
    }
    if (reached.violation && !failed_.exchange(true)) {
        std::cout << "seed " << seed << " broke an invariant: " << *reached.violation << '\n'
                  << reached.profile << "replay it: ./dev sim --seed " << seed << " --trace\n";
    }
}

int tally::report() const {
    constexpr double micros = 1000000;
    std::cout << done_ << " seeds from " << options_.first_seed << ": " << rows_ << " rows in "
              << static_cast<double>(simulated_.count()) / micros / 3600
              << " simulated hours; longest recovery "
              << static_cast<double>(longest_recovery_.count()) / micros << " s (seed "
              << longest_recovery_seed_ << ")\n";
    if (options_.expect_violation) {
        std::cout << (failed_ ? "caught\n" : "the canary survived\n");
        return failed_ ? 0 : 1;
    }
    return failed_ ? 1 : 0;
}

int replay(const options& wanted) {
    const auto seed = *wanted.seed;
    seed_of_this_thread = seed;
    const auto reached = simulate(seed, wanted.defect, wanted.trace ? &std::cout : nullptr);
    std::cout << "seed " << seed << ", " << reached.rows << " rows\n"
              << reached.profile
              << (reached.violation ? "broke an invariant: " + *reached.violation : "all held")
              << '\n';
    return reached.violation ? 1 : 0;
}

}  // namespace

int run(int argc, char** argv) {
    options wanted;
    CLI::App app{
        "Simulates the relay between models of its servers, with faults drawn from a seed."};
    app.add_option("--seeds", wanted.seeds, "how many seeds")->capture_default_str();
    app.add_option("--first-seed", wanted.first_seed, "the first of them")->capture_default_str();
    app.add_option("--seed", wanted.seed, "only this one");
    app.add_flag("--trace", wanted.trace, "with --seed: every step");
    app.add_option("--canary", wanted.defect, "a defect to be noticed")
        ->transform(CLI::CheckedTransformer(canaries));
    app.add_flag("--expect-violation", wanted.expect_violation, "fail if nothing is noticed");
    app.add_option("--threads", wanted.threads)->capture_default_str();
    CLI11_PARSE(app, argc, argv);
    violation_is_expected = wanted.expect_violation;
    std::signal(SIGABRT, on_abort);
    if (wanted.seed) {
        return replay(wanted);
    }
    tally all(wanted);
    all.run();
    return all.report();
}

}  // namespace walrelay::sim
