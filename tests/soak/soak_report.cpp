// See soak_report.hpp.
#include "soak/soak_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <sstream>

namespace walrelay::soak {
namespace {

using std::chrono::microseconds;

double seconds(microseconds duration) {
    return std::chrono::duration<double>(duration).count();
}

/// Rows that were committed, and those that waited, during one kind of disturbance.
struct line_of_table {
    std::vector<period> periods;
    microseconds active{0};
    std::vector<microseconds> waits;
    microseconds longest{0};
    microseconds longest_unexcused{0};
};

microseconds length(const period& when) {
    return std::chrono::duration_cast<microseconds>(when.end - when.begin);
}

void count(line_of_table& line, const row_wait& row, const std::vector<period>& merged_periods) {
    // The first that ends after the row was committed is the only one that can cover the COMMIT.
    const auto next =
        std::lower_bound(merged_periods.begin(), merged_periods.end(), row.when.begin,
                         [](const period& each, const moment when) { return each.end < when; });
    if (next == merged_periods.end() || !overlap(row.when, *next)) {
        return;
    }
    line.longest = std::max(line.longest, length(row.when));
    line.longest_unexcused = std::max(line.longest_unexcused, row.unexcused);
    if (next->begin <= row.when.begin) {
        line.waits.push_back(length(row.when));
    }
}

std::string percentile(std::vector<microseconds>& waits, std::size_t of_a_hundred) {
    constexpr std::size_t hundred = 100;
    if (waits.empty()) {
        return "-";
    }
    std::sort(waits.begin(), waits.end());
    constexpr double thousand = 1000;
    return fmt::format(
        "{:.1f} ms",
        static_cast<double>(waits[(waits.size() - 1) * of_a_hundred / hundred].count()) / thousand);
}

std::string to_row(const std::string& kind, line_of_table& line) {
    constexpr std::size_t middle = 50;
    constexpr std::size_t slowest = 99;
    return fmt::format("| {} | {} | {:.0f} | {} | {} | {} | {:.2f} s | {:.2f} s |\n", kind,
                       line.periods.size(), seconds(line.active), line.waits.size(),
                       percentile(line.waits, middle), percentile(line.waits, slowest),
                       seconds(line.longest), seconds(line.longest_unexcused));
}

void fill(line_of_table& line, const std::vector<row_wait>& waits) {
    const auto joined = merged(line.periods);
    for (const auto& each : joined) {
        line.active += length(each);
    }
    for (const auto& row : waits) {
        count(line, row, joined);
    }
}

std::string warnings(const std::vector<log_line>& log) {
    std::map<std::string, std::size_t> by_kind;
    for (const auto& line : log) {
        if (line.level != "warning" && line.level != "error") {
            continue;
        }
        constexpr std::size_t telling_words = 16;
        std::istringstream words(line.text);
        std::string kind;
        std::string word;
        for (std::size_t left = telling_words; left > 0 && words >> word; --left) {
            // Positions, ids, ports: what makes two lines of one kind differ.
            const bool number = word.find_first_of("0123456789") != std::string::npos;
            kind += (kind.empty() ? "" : " ") + (number ? "N" : word);
        }
        ++by_kind[line.level + ": " + kind];
    }
    std::string text;
    for (const auto& [kind, times] : by_kind) {
        text += fmt::format("{:>6} x {}\n", times, kind);
    }
    return text.empty() ? "none\n" : text;
}

std::string going_on(const soak_outcome& outcome, const period& when) {
    std::map<std::string, std::size_t> kinds;
    for (const auto& entry : outcome.all.diary) {
        kinds[entry.kind] += overlap(entry.when, when) ? 1U : 0U;
    }
    for (const auto& fault : outcome.all.restarts) {
        kinds[fault.kind] += overlap({fault.begun, fault.over}, when) ? 1U : 0U;
    }
    std::string text;
    for (const auto& [kind, times] : kinds) {
        if (times > 0) {
            text += (text.empty() ? "" : "; ") + kind;
            text += times > 1 ? fmt::format(" ({} times)", times) : "";
        }
    }
    return text;
}

/// The last that was seen of them in that time.
std::string sessions_in(const soak_outcome& outcome, const period& when) {
    const session_sample* last = nullptr;
    for (const auto& sample : outcome.all.sessions) {
        if (overlap({sample.when, sample.when}, when) && !sample.text.empty()) {
            last = &sample;
        }
    }
    return last == nullptr ? ""
                           : fmt::format("  sessions of walrelay at {}:\n{}",
                                         time_of_day(last->when), last->text);
}

std::string describe(const soak_outcome& outcome, const period& when) {
    return fmt::format("  meanwhile: {}\n{}", going_on(outcome, when), sessions_in(outcome, when));
}

}  // namespace

bool soak_outcome::passed() const {
    return complaints.empty() && found.compared.flawless() && found.late.empty() &&
           found.standing.empty();
}

std::string to_markdown(const soak_outcome& outcome) {
    std::map<std::string, line_of_table> lines;
    for (const auto& entry : outcome.all.diary) {
        lines[entry.kind].periods.push_back(entry.when);
    }
    std::map<std::string, line_of_table> faults;
    for (const auto& fault : outcome.all.restarts) {
        faults[fault.kind].periods.push_back(excuse_of(fault, outcome.all.log));
    }
    line_of_table whole;
    if (!outcome.found.waits.empty()) {
        whole.periods.push_back({moment::min(), moment::max()});
        for (const auto& row : outcome.found.waits) {
            count(whole, row, whole.periods);
        }
        whole.active = outcome.took;
    }
    std::string text =
        "| while this went on | times | seconds | rows | p50 | p99 | longest wait | longest that "
        "no "
        "restart excuses |\n"
        "|---|---|---|---|---|---|---|---|\n";
    text += to_row("the whole run", whole);
    for (auto* group : {&lines, &faults}) {
        for (auto& [kind, line] : *group) {
            fill(line, outcome.found.waits);
            text += to_row(group == &faults ? kind + " (excused)" : kind, line);
        }
    }
    return text + fmt::format(
                      "\nLongest time that the slot stood still while nothing excuses it: "
                      "{:.2f} s. Warnings of walrelay:\n\n```\n{}```\n",
                      seconds(outcome.found.longest_stand), warnings(outcome.all.log));
}

std::string to_text(const soak_outcome& outcome) {
    std::string text;
    for (const auto& complaint : outcome.complaints) {
        text += complaint + "\n";
    }
    if (!outcome.found.compared.flawless()) {
        text += to_string(outcome.found.compared);
    }
    for (const auto& one : outcome.found.late) {
        text += fmt::format(
            "{} to {}: {} rows waited longer than {:.0f} s for what has nothing to do with them; "
            "the longest was {} {}, committed at {}: {:.2f} s\n",
            time_of_day(one.when.begin), time_of_day(one.when.end), one.rows,
            seconds(outcome.bounds.wait), name_of(one.worst.table), one.worst.key,
            time_of_day(one.worst.when.begin), seconds(one.worst.unexcused));
        text += describe(outcome, one.when);
    }
    for (const auto& one : outcome.found.standing) {
        text += fmt::format("{} to {}: the slot does not move, for {:.2f} s\n",
                            time_of_day(one.begin), time_of_day(one.end), seconds(length(one)));
        text += describe(outcome, one);
    }
    return text;
}

}  // namespace walrelay::soak
