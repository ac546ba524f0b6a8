// See report.hpp.
#include "chaos/report.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <sys/utsname.h>

#include <algorithm>
#include <ctime>
#include <map>
#include <thread>

namespace walrelay::chaos {
namespace {

double seconds(std::chrono::milliseconds duration) {
    return std::chrono::duration<double>(duration).count();
}

std::string recovery(const outcome& result) {
    return result.times == 0 || result.longest_recovery.count() == 0
               ? "-"
               : fmt::format("{:.1f} s", seconds(result.longest_recovery));
}

std::string machine() {
    utsname system{};
    uname(&system);
    return fmt::format("{} {} {}, {} processors", system.sysname, system.release, system.machine,
                       std::thread::hardware_concurrency());
}

std::string row(const outcome& result) {
    const auto& found = result.found;
    return fmt::format("| {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |\n",
                       result.fault, result.plugin, result.postgres, result.broker, result.times,
                       found.rows, found.lost, found.duplicated, found.inverted,
                       found.phantom + found.altered, found.confirmed_early, recovery(result),
                       result.reported.empty() ? "-" : result.reported,
                       result.passed() ? "passed" : "FAILED");
}

/// What a fault that was made in several runs comes to.
std::string sums(const std::vector<outcome>& results) {
    std::vector<outcome> all;
    std::map<std::string, std::size_t> runs;
    for (const auto& result : results) {
        if (runs[result.fault]++ == 0) {
            all.push_back(
                {.fault = result.fault, .plugin = "all", .broker = "all", .postgres = "all"});
        }
        auto& sum = *std::find_if(all.begin(), all.end(),
                                  [&](const outcome& each) { return each.fault == result.fault; });
        sum.times += result.times;
        sum.found.add(result.found);
        sum.longest_recovery = std::max(sum.longest_recovery, result.longest_recovery);
        sum.recovery_limit = std::max(sum.recovery_limit, result.recovery_limit);
        sum.reported = result.reported;
        sum.complaints.insert(sum.complaints.end(), result.complaints.begin(),
                              result.complaints.end());
    }
    std::string text;
    for (const auto& sum : all) {
        text += runs[sum.fault] > 1 ? row(sum) : std::string();
    }
    return text;
}

}  // namespace

bool outcome::passed() const {
    auto unforgiven = found;
    if (!reported.empty()) {
        unforgiven.lost = 0;
    }
    return complaints.empty() && unforgiven.flawless() && longest_recovery <= recovery_limit;
}

std::string to_line(const outcome& result) {
    const auto& found = result.found;
    auto text = fmt::format(
        "{:<24} {:<9} {:<6} {:<8} x{:<4} {:>8} rows  lost {} duplicated {} inverted {} foreign {} "
        "early "
        "{}"
        "  recovery {:.2f} s, at most {:.2f} s  {} s  {}",
        result.fault, result.plugin, result.postgres, result.broker, result.times, found.rows,
        found.lost, found.duplicated, found.inverted, found.phantom + found.altered,
        found.confirmed_early, seconds(result.middle_recovery), seconds(result.longest_recovery),
        result.took.count(), result.passed() ? "passed" : "FAILED");
    for (const auto& complaint : result.complaints) {
        text += "\n    " + complaint;
    }
    if (result.longest_recovery > result.recovery_limit) {
        text += fmt::format("\n    a recovery took more than {} s", result.recovery_limit.count());
    }
    if (!result.logs.empty() && !result.passed()) {
        text += "\n    logs: " + result.logs;
    }
    return text + (found.details.empty() || result.passed() ? "" : "\n" + found.details);
}

std::string to_markdown(const table_head& head, const std::vector<outcome>& results) {
    const auto now = std::time(nullptr);
    auto text = fmt::format(
        "{:%Y-%m-%d}, seed {}, PostgreSQL {}, {}; `{}`\n\n"
        "| fault | plugin | PostgreSQL | nats-server | times | rows | lost | duplicated | inverted "
        "| foreign or "
        "altered |"
        " confirmed too early | longest recovery | reported | |\n"
        "|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n",
        fmt::gmtime(now), head.seed, head.postgres_version, machine(), head.command);
    for (const auto& result : results) {
        text += row(result);
    }
    return text + sums(results);
}

}  // namespace walrelay::chaos
