#include "incidents/alert_table.hpp"

#include "support/relay_process.hpp"

#include <chrono>
#include <cmath>
#include <fstream>
#include <map>
#include <sstream>

namespace walrelay::test {
namespace {

constexpr int minutes_a_step = 2;
constexpr int steps_before_silence = 30;
constexpr int steps = alert_table::hours * 60 / minutes_a_step;

/// By series, with the labels that a scrape adds.
std::map<std::string, double> values_in(const std::string& answer) {
    std::map<std::string, double> values;
    std::istringstream lines(answer);
    for (std::string line; std::getline(lines, line);) {
        const auto space = line.rfind(' ');
        if (line.empty() || line.front() == '#' || space == std::string::npos) {
            continue;
        }
        auto series = line.substr(0, space);
        const std::string scraped = "{job=\"walrelay\",instance=\"relay\"";
        const auto brace = series.find('{');
        series = brace == std::string::npos
                     ? series + scraped + "}"
                     : series.substr(0, brace) + scraped + "," + series.substr(brace + 1);
        if (const auto value = std::stod(line.substr(space + 1)); std::isfinite(value)) {
            values.emplace(std::move(series), value);
        }
    }
    return values;
}

/// What a fault moves once, and what swings by itself, does not go on.
bool goes_on(const std::string& series) {
    return !series.starts_with("walrelay_clock_offset_seconds") &&
           !series.starts_with("walrelay_slot_retained_bytes") &&
           !series.starts_with("walrelay_slot_safe_wal_bytes") &&
           !series.starts_with("walrelay_slot_danger_seconds");
}

}  // namespace

void alert_table::says(const std::string& first, const std::string& second, double seconds) {
    const auto before = values_in(first);
    constexpr double seconds_a_step = 60.0 * minutes_a_step;
    std::ostringstream text;
    text << std::fixed;
    for (const auto& [series, value] : values_in(second)) {
        const auto earlier = before.find(series);
        const auto grown =
            earlier == before.end() || !goes_on(series) ? 0 : value - earlier->second;
        const auto step = grown / seconds * seconds_a_step;
        text << "      - series: '" << series << "'\n        values: '" << value
             << (step < 0 ? "-" : "+") << std::abs(step) << "x" << steps << "'\n";
    }
    series_ = text.str();
}

void alert_table::falls_silent(const std::string& last) {
    std::ostringstream text;
    text << std::fixed;
    for (const auto& [series, value] : values_in(last)) {
        text << "      - series: '" << series << "'\n        values: '" << value << "x"
             << steps_before_silence << "'\n";
    }
    series_ = text.str();
    hours_ = 12;
}

std::string alert_table::differs_from(const std::set<std::string>& expected) const {
    std::ofstream file(folder_ / "alerts_of_an_incident.yaml");
    file << "rule_files: ['" << rules_.string() << "']\nevaluation_interval: " << minutes_a_step
         << "m\ntests:\n  - interval: " << minutes_a_step << "m\n    input_series:\n"
         << series_ << "    promql_expr_test:\n"
         << "      - expr: group by (alertname) (ALERTS{alertstate=\"firing\"})\n"
         << "        eval_time: " << hours_ << "h\n        exp_samples:\n";
    for (const auto& alert : expected) {
        file << "          - {labels: '{alertname=\"" << alert << "\"}', value: 1}\n";
    }
    file.close();
    const auto judged = run_to_end({.program = "promtool",
                                    .arguments = {"test", "rules", "alerts_of_an_incident.yaml"},
                                    .folder = folder_,
                                    .name = "promtool"},
                                   std::chrono::minutes(5));
    return judged.exit_code == 0 ? "" : judged.output + judged.errors;
}

}  // namespace walrelay::test
