// See results_file.hpp.
#include "chaos/results_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <utility>

namespace walrelay::chaos {
namespace {

std::string key_of(const planned_run& run, const server_versions& servers) {
    return fmt::format("{} {} {} {} {} {} {}", run.what->name, run.plan.plugin, servers.broker,
                       servers.postgres, run.plan.times, run.plan.rows, run.plan.seed);
}

std::string joined(const std::vector<std::string>& texts) {
    std::string line;
    for (const auto& text : texts) {
        line += line.empty() ? text : "; " + text;
    }
    std::replace_if(
        line.begin(), line.end(), [](char letter) { return letter == '\t' || letter == '\n'; },
        ' ');
    return line;
}

std::string line_of(const std::string& key, const outcome& result) {
    const auto& found = result.found;
    return fmt::format(
        "{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\n", key,
        result.fault, result.plugin, result.broker, result.postgres, result.times, found.rows,
        found.lost, found.duplicated, found.inverted, found.phantom, found.altered,
        found.confirmed_early, result.longest_recovery.count(), result.recovery_limit.count(),
        result.middle_recovery.count(), result.took.count(), result.reported,
        joined(result.complaints));
}

/// The fields of one line, in the order in which they were written.
class fields {
public:
    explicit fields(const std::string& line) : from_(line) {}

    std::string text() {
        std::string field;
        std::getline(from_, field, '\t');
        return field;
    }
    std::uint64_t number() {
        const auto field = text();
        if (field.empty() || field.find_first_not_of("0123456789") != std::string::npos) {
            throw std::runtime_error("the file of results holds a line that is none");
        }
        return std::stoull(field);
    }
    std::chrono::milliseconds milliseconds() {
        return std::chrono::milliseconds(static_cast<std::int64_t>(number()));
    }

private:
    std::istringstream from_;
};

outcome outcome_in(fields& from) {
    outcome result;
    result.fault = from.text();
    result.plugin = from.text();
    result.broker = from.text();
    result.postgres = from.text();
    result.times = from.number();
    auto& found = result.found;
    for (auto* each : {&found.rows, &found.lost, &found.duplicated, &found.inverted, &found.phantom,
                       &found.altered, &found.confirmed_early}) {
        *each = from.number();
    }
    result.longest_recovery = from.milliseconds();
    result.recovery_limit = std::chrono::seconds(static_cast<std::int64_t>(from.number()));
    result.middle_recovery = from.milliseconds();
    result.took = std::chrono::seconds(static_cast<std::int64_t>(from.number()));
    result.reported = from.text();
    if (auto complaints = from.text(); !complaints.empty()) {
        result.complaints.push_back(std::move(complaints));
    }
    return result;
}

}  // namespace

results_file::results_file(std::filesystem::path path) : path_(std::move(path)) {
    std::ifstream file(path_);
    for (std::string line; std::getline(file, line);) {
        fields from(line);
        keys_.push_back(from.text());
        results_.push_back(outcome_in(from));
    }
}

bool results_file::has_passed(const planned_run& run, const server_versions& servers) const {
    const auto key = key_of(run, servers);
    for (std::size_t index = 0; index < keys_.size(); ++index) {
        if (keys_[index] == key && results_[index].passed()) {
            return true;
        }
    }
    return false;
}

void results_file::add(const planned_run& run, const outcome& result) {
    keys_.push_back(key_of(run, {.broker = result.broker, .postgres = result.postgres}));
    results_.push_back(result);
    if (!path_.empty()) {
        std::ofstream(path_, std::ios::app) << line_of(keys_.back(), result);
    }
}

}  // namespace walrelay::chaos
