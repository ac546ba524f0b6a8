#include "harness/programme.hpp"

#include "harness/cluster.hpp"
#include "harness/cost.hpp"
#include "harness/drain.hpp"
#include "harness/latency.hpp"
#include "harness/peers.hpp"
#include "harness/publish_parts.hpp"
#include "harness/replay.hpp"
#include "harness/restart.hpp"
#include "harness/scrapes.hpp"
#include "harness/wal_listener.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace walrelay::bench {
namespace {

// What two cores did when this was written; only the estimates are made of it.
constexpr double rows_filled_per_second = 60'000;
constexpr double rows_drained_per_second = 50'000;
constexpr double bytes_drained_per_second = 100e6;
constexpr double seconds_around_a_run = 3;
constexpr double seconds_to_make_servers = 8;

double seconds_of_drain(std::uint64_t rows, std::uint64_t body_bytes) {
    const auto count = static_cast<double>(rows);
    return seconds_around_a_run +
           std::max(count / rows_drained_per_second,
                    count * static_cast<double>(body_bytes) / bytes_drained_per_second);
}

double seconds_to_fill(std::uint64_t rows) {
    return seconds_to_make_servers + static_cast<double>(rows) / rows_filled_per_second;
}

/// How long the options make the steps.
class estimate {
public:
    explicit estimate(const options& chosen)
        : chosen_(chosen),
          plugins_(static_cast<double>(chosen.plugins.size())),
          pace_(static_cast<double>(chosen.seconds) + seconds_around_a_run) {}

    [[nodiscard]] std::chrono::seconds drain(const drain_scenario& scenario) const {
        const double runs = scenario.with_bare_limit ? 3 : 2;
        return whole(seconds_to_fill(scenario.rows.rows),
                     runs * plugins_ * seconds_of_drain(scenario.rows.rows, scenario.body_bytes));
    }

    [[nodiscard]] std::chrono::seconds cluster() const {
        constexpr double runs = 2 + 3;  // one replica, and three
        const auto servers = static_cast<double>(1 + chosen_.nats_servers.size());
        return whole(servers * 2 * seconds_to_fill(chosen_.rows),
                     servers * runs * plugins_ * seconds_of_drain(chosen_.rows, 0));
    }

    [[nodiscard]] std::chrono::seconds publish() const {
        const auto servers = static_cast<double>(1 + chosen_.nats_servers.size());
        return whole(servers * 2 * seconds_to_make_servers,
                     servers * 2 * static_cast<double>(publish_part_count()) *
                         seconds_of_drain(chosen_.rows, 0));
    }

    [[nodiscard]] std::chrono::seconds latency() const {
        return whole(seconds_to_make_servers,
                     2 * plugins_ * static_cast<double>(chosen_.rates.size()) * pace_);
    }

    [[nodiscard]] std::chrono::seconds cost() const {
        constexpr double runs = 7;  // without and with it, at a rate, idle for four times as long
        return whole(seconds_to_make_servers, 2 * plugins_ * runs * pace_);
    }

    [[nodiscard]] std::chrono::seconds restart() const {
        return whole(seconds_to_fill(chosen_.rows) + seconds_of_drain(chosen_.rows, 0),
                     2 * plugins_ * seconds_of_drain(chosen_.rows, 0));
    }

    [[nodiscard]] std::chrono::seconds scrapes() const {
        return whole(seconds_to_fill(chosen_.rows),
                     2 * plugins_ * seconds_of_drain(chosen_.rows, 0));
    }

    [[nodiscard]] std::chrono::seconds replay() const {
        // The rows are read once more for the plan, and once for the plan of the second replay.
        constexpr double drains = 4;
        return whole(seconds_to_make_servers + seconds_to_fill(chosen_.rows),
                     plugins_ * (drains * seconds_of_drain(chosen_.rows, 0) +
                                 seconds_to_fill(chosen_.rows) + 2 * pace_));
    }

    [[nodiscard]] std::chrono::seconds peers(const peers_options& how) const {
        constexpr double npm = 2;
        // The pollers and wal-listener, which may not get to the end of the backlog.
        const double slow = chosen_.wal_listener.empty() ? 2 : 3;
        const double drains = (plugins_ + npm) * seconds_of_drain(how.rows, 0) +
                              slow * static_cast<double>(peers_options::drain_limit.count());
        const double fills = static_cast<double>(how.rows) / rows_filled_per_second;
        const auto rates = static_cast<double>(how.rates.size());
        return whole(seconds_to_make_servers,
                     drains + (plugins_ + npm + slow) * (fills + rates * pace_));
    }

    [[nodiscard]] std::chrono::seconds growth() const {
        double making = 0;
        double draining = 0;
        for (const auto rows : chosen_.growth) {
            making += seconds_to_fill(rows);
            draining += seconds_of_drain(rows, 0);
        }
        return whole(making, plugins_ * draining);
    }

private:
    [[nodiscard]] std::chrono::seconds whole(double once, double per_repetition) const {
        return std::chrono::seconds(std::lround(once + per_repetition * chosen_.repetitions));
    }

    const options& chosen_;
    double plugins_;
    /// Of one contender at one rate.
    double pace_;
};

peers_options peers_of(const options& chosen) {
    constexpr std::uint64_t rows_most = 500'000;
    return {.plugins = chosen.plugins,
            .peers = {},
            .rows = std::min(chosen.rows, rows_most),
            .rates = {10, 1000},
            .seconds = chosen.seconds,
            .repetitions = chosen.repetitions};
}

void add_drains(std::vector<step>& steps, const options& chosen, const programs& with) {
    const drain_options how{.plugins = chosen.plugins, .repetitions = chosen.repetitions};
    for (const auto& scenario : drain_scenarios(chosen.rows)) {
        if (chosen.wants_case(scenario.key)) {
            steps.push_back({"drain " + scenario.key, estimate(chosen).drain(scenario),
                             [=](results& into) { measure_drain(scenario, how, with, into); }});
        }
    }
}

cluster_options brokers_of(const options& chosen) {
    std::vector<std::string> programs = {""};  // the installed one
    programs.insert(programs.end(), chosen.nats_servers.begin(), chosen.nats_servers.end());
    return {.nats_servers = programs,
            .replicas = chosen.replicas,
            .plugins = chosen.plugins,
            .rows = chosen.rows,
            .repetitions = chosen.repetitions};
}

step cluster_step(const options& chosen, const programs& with) {
    const auto how = brokers_of(chosen);
    return {"cluster", estimate(chosen).cluster(),
            [=](results& into) { measure_cluster(how, with, into); }};
}

step publish_step(const options& chosen, const programs& with) {
    const auto how = brokers_of(chosen);
    return {"publish", estimate(chosen).publish(),
            [=](results& into) { measure_publish_parts(how, with, into); }};
}

step latency_step(const options& chosen, const programs& with) {
    const latency_options how{.plugins = chosen.plugins,
                              .rates = chosen.rates,
                              .seconds = chosen.seconds,
                              .repetitions = chosen.repetitions};
    return {"latency", estimate(chosen).latency(),
            [=](results& into) { measure_latency(how, with, into); }};
}

step cost_step(const options& chosen, const programs& with) {
    const cost_options how{
        .plugins = chosen.plugins, .seconds = chosen.seconds, .repetitions = chosen.repetitions};
    return {"cost", estimate(chosen).cost(), [=](results& into) { measure_cost(how, with, into); }};
}

step restart_step(const options& chosen, const programs& with) {
    const restart_options how{
        .plugins = chosen.plugins, .rows = chosen.rows, .repetitions = chosen.repetitions};
    return {"restart", estimate(chosen).restart(),
            [=](results& into) { measure_restart(how, with, into); }};
}

step scrapes_step(const options& chosen, const programs& with) {
    const scrapes_options how{
        .plugins = chosen.plugins, .rows = chosen.rows, .repetitions = chosen.repetitions};
    return {"scrapes", estimate(chosen).scrapes(),
            [=](results& into) { measure_scrapes(how, with, into); }};
}

step replay_step(const options& chosen, const programs& with) {
    const replay_options how{.plugins = chosen.plugins,
                             .rows = chosen.rows,
                             .seconds = chosen.seconds,
                             .repetitions = chosen.repetitions};
    return {"replay", estimate(chosen).replay(),
            [=](results& into) { measure_replay(how, with, into); }};
}

step peers_step(const options& chosen, const programs& with) {
    auto how = peers_of(chosen);
    const auto folder = chosen.peers_folder();
    const auto wal_listener = chosen.wal_listener;
    return {"peers", estimate(chosen).peers(how), [=](results& into) mutable {
                how.peers = find_peers(folder, into);
                add_wal_listener(wal_listener, how.peers, into);
                measure_peers(how, with, into);
            }};
}

step growth_step(const options& chosen, const programs& with) {
    const drain_options how{
        .plugins = chosen.plugins, .repetitions = chosen.repetitions, .with_limit = false};
    const auto sizes = chosen.growth;
    return {"growth", estimate(chosen).growth(),
            [=](results& into) { measure_growth(sizes, how, with, into); }};
}

}  // namespace

std::vector<step> steps_of(const options& chosen) {
    using maker = step (*)(const options&, const programs&);
    static const std::map<std::string, maker> makers = {
        {"cluster", cluster_step}, {"publish", publish_step}, {"latency", latency_step},
        {"cost", cost_step},       {"restart", restart_step}, {"scrapes", scrapes_step},
        {"replay", replay_step},   {"peers", peers_step},     {"growth", growth_step}};
    const programs with{
        .walrelay = chosen.walrelay, .publisher = chosen.publisher, .others = chosen.others};
    std::vector<step> steps;
    for (const auto& part : chosen.parts) {
        if (part == "drain") {
            add_drains(steps, chosen, with);
        } else {
            steps.push_back(makers.at(part)(chosen, with));
        }
    }
    return steps;
}

}  // namespace walrelay::bench
