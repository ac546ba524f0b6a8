// Results of runs in a file, one line each, so that a long run can be made in parts and taken up
// again where it was broken off. Knows the fields of an outcome, and nothing of what they mean.
#pragma once

#include "chaos/options.hpp"
#include "chaos/report.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace walrelay::chaos {

class results_file {
public:
    /// Reads what is there. An empty path keeps nothing. Throws std::runtime_error for a file that
    /// holds something else.
    explicit results_file(std::filesystem::path path);

    /// Whether the file has a result of the same run, with the same seed, that has passed.
    [[nodiscard]] bool has_passed(const planned_run& run, const server_versions& servers) const;
    void add(const planned_run& run, const outcome& result);
    /// In the order in which they were made, those of earlier runs first.
    [[nodiscard]] const std::vector<outcome>& results() const { return results_; }

private:
    std::filesystem::path path_;
    std::vector<std::string> keys_;
    std::vector<outcome> results_;
};

}  // namespace walrelay::chaos
