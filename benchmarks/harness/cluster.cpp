#include "harness/cluster.hpp"

#include "harness/drain.hpp"
#include "harness/machine.hpp"
#include "harness/progress.hpp"

namespace walrelay::bench {
namespace {

constexpr const char* part = "cluster";

/// Where walrelay is, in the name of a contender.
std::string at(broker_role role) {
    switch (role) {
        case broker_role::leader:
            return ", at the leader";
        case broker_role::follower:
            return ", beside it";
        default:
            return "";
    }
}

/// One broker, drained into again and again.
class cluster_bed {
public:
    cluster_bed(const broker_kind& kind, const cluster_options& how, const programs& with)
        : scenario_(fmt::format("{}, {} rows", name_of(kind), how.rows)),
          rows_(how.rows),
          roles_(kind.replicas == 1 ? std::vector{broker_role::any}
                                    : std::vector{broker_role::leader, broker_role::follower}),
          bed_(with, {}, kind) {
        constexpr std::uint64_t body_bytes = 300;
        say("{}: {}: making the rows", part, scenario_);
        bed_.calibrate(body_bytes);
        bed_.fill({.rows = how.rows});
    }

    void repeat(const std::string& plugin, results& into) {
        const drain_run run{.plugin = plugin, .rows = rows_, .role = roles_.front()};
        const place limit{part, scenario_, limit_name(plugin)};
        const auto possible = measure_limit(bed_, limit, run, publisher_kind::library, into);
        for (const auto role : roles_) {
            drain_at(role, plugin, possible, into);
        }
    }

private:
    void drain_at(broker_role role, const std::string& plugin, const drain_figures& possible,
                  results& into) {
        const drain_run run{.plugin = plugin, .rows = rows_, .role = role};
        const auto name = relay_name(plugin) + at(role);
        const place where{part, scenario_, name};
        const auto reached = measure_relay(bed_, where, run, bed_.tools().walrelay, into);
        add_ratios(where, reached, possible, into);
        say("{}: {}: {}: {:.2f} of the limit, {:.1f} us of the broker, limit {:.1f}", part,
            scenario_, name, reached.rows_per_second / possible.rows_per_second,
            reached.broker_microseconds, possible.broker_microseconds);
        for (const auto& other : bed_.tools().others) {
            const place beside{part, scenario_, other.name + ", " + name};
            const auto figures = measure_relay(bed_, beside, run, other.program, into);
            add_ratios(beside, figures, possible, into);
            add_ratios_of_build(beside, figures, reached, into);
        }
    }

    std::string scenario_;
    std::uint64_t rows_;
    std::vector<broker_role> roles_;
    bed bed_;
};

}  // namespace

std::string name_of(const broker_kind& kind) {
    return fmt::format("nats-server {}, {}", version_of_nats(kind.program),
                       kind.replicas == 1 ? "1 replica" : "3 replicas");
}

std::vector<broker_kind> broker_kinds(const cluster_options& how) {
    std::vector<broker_kind> kinds;
    for (const auto& program : how.nats_servers) {
        for (const auto replicas : how.replicas) {
            kinds.push_back({.program = program, .replicas = replicas});
        }
    }
    return kinds;
}

void measure_cluster(const cluster_options& how, const programs& with, results& into) {
    for (const auto& kind : broker_kinds(how)) {
        cluster_bed on(kind, how, with);
        for (int repetition = 1; repetition <= how.repetitions; ++repetition) {
            for (const auto& plugin : how.plugins) {
                on.repeat(plugin, into);
            }
            into.end_repetition();
        }
    }
}

}  // namespace walrelay::bench
