#include "harness/targets.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

namespace walrelay::bench {
namespace {

struct target {
    std::string sentence;
    std::string part;
    /// What the names of the scenarios in question begin with; nothing for all of them.
    std::string scenario;
    std::string metric;
    double with_pgoutput = 0;
    double with_wal2json = 0;
    int decimals = 2;
    bool at_least = false;
};

target at_least(target what) {
    what.at_least = true;
    what.with_wal2json = what.with_pgoutput;
    return what;
}

target at_most(target what) {
    what.with_wal2json = what.with_pgoutput;
    return what;
}

constexpr const char* main_drain = "300 B, ";

const std::vector<target>& targets() {
    static const std::vector<target> all = {
        at_least({"drain of 300 B by limit, at least", "drain", main_drain, "of_limit", 1}),
        {"us of processor time an event in it, at most", "drain", main_drain,
         "relay_cpu_microseconds", 7, 10},
        at_most({"MiB of memory in it, at most", "drain", main_drain, "peak_mib", 26}),
        at_most({"MiB of memory in every drain, at most", "drain", "", "peak_mib", 64}),
        at_most({"p50 at 1,000 rows/s by floor, at most", "latency", "1000 ", "p50_of_floor", 1.5}),
        at_most({"p99 at 1,000 rows/s by floor, at most", "latency", "1000 ", "p99_of_floor", 2}),
        at_least({"rows/s of the largest backlog by those of the smallest, at least", "growth", "",
                  "of_smallest", 0.9}),
        at_least({"rows/s with 500 scrapes/s by those without, at least", "scrapes", "", "of_first",
                  0.95}),
        at_least({"rows/s of a replay into another stream by those of a drain, at least", "replay",
                  "into", "of_drain", 0.9}),
        at_most({"us of p99 at 1,000 rows/s beside a replay, at most", "replay", "1000 ",
                 "p99_microseconds", 50'000, 0, 0}),
        at_most({"statements/s when idle, at most", "cost", "idle", "statements_per_second", 0.2, 0,
                 1}),
        at_least({"rows/s by those of the best relay from npm, at least", "peers", "backlog",
                  "of_best_npm", 5}),
        at_least({"latency of polling at 5 s by its own, at least", "peers", "10 ", "below_polling",
                  1000, 0, 0})};
    return all;
}

/// The main case of a size is the one that says nothing else of itself: "300 B, 1000000 rows".
bool means(const target& what, const place& where) {
    constexpr std::string_view main_ends = " rows";
    const bool main_only = what.scenario == main_drain;
    return where.scenario.starts_with(what.scenario) &&
           (!main_only || where.scenario.ends_with(main_ends));
}

/// The median; where several scenarios are meant, of the worst of them.
std::optional<double> measured(const results& from, const target& what, const std::string& plugin) {
    std::optional<double> worst;
    for (const auto& where : from.places(what.part)) {
        const auto found = from.of(where, what.metric);
        if (where.contender != relay_name(plugin) || !means(what, where) || !found) {
            continue;
        }
        const auto value = found->median;
        worst = !worst ? value : what.at_least ? std::min(*worst, value) : std::max(*worst, value);
    }
    return worst;
}

std::string verdict(const target& what, double bound, const std::optional<double>& value) {
    if (!value) {
        return "";
    }
    // As it is shown: of statements every 5 s, one more or less falls into the time of a run.
    const double scale = std::pow(10, what.decimals);
    const double shown = std::round(*value * scale) / scale;
    const bool met = what.at_least ? shown >= bound : shown <= bound;
    return fmt::format("{:.{}f} ({})", *value, what.decimals, met ? "met" : "not met");
}

}  // namespace

std::string targets_of(const results& from, table_form form) {
    std::vector<table_row> rows = {{"target", "wanted", "pgoutput", "wal2json"}};
    for (const auto& each : targets()) {
        const auto first = measured(from, each, "pgoutput");
        const auto second = measured(from, each, "wal2json");
        if (first || second) {
            const auto wanted = each.with_pgoutput == each.with_wal2json
                                    ? fmt::format("{}", each.with_pgoutput)
                                    : fmt::format("{}, {}", each.with_pgoutput, each.with_wal2json);
            rows.push_back({each.sentence, wanted, verdict(each, each.with_pgoutput, first),
                            verdict(each, each.with_wal2json, second)});
        }
    }
    return rows.size() == 1 ? "" : formatted(rows, form);
}

}  // namespace walrelay::bench
