// Where the preflight's looks put what they find.
#pragma once

#include "relay/preflight.hpp"

#include <string>
#include <utility>
#include <vector>

namespace walrelay::relay {

/// Collects findings; one short method for each severity.
class findings_list {
public:
    void error(std::string what, std::string remedy) {
        found_.push_back({finding_severity::error, std::move(what), std::move(remedy)});
    }
    void warning(std::string what, std::string remedy) {
        found_.push_back({finding_severity::warning, std::move(what), std::move(remedy)});
    }
    void note(std::string what, std::string remedy) {
        found_.push_back({finding_severity::note, std::move(what), std::move(remedy)});
    }
    [[nodiscard]] std::vector<finding> take() { return std::move(found_); }

private:
    std::vector<finding> found_;
};

}  // namespace walrelay::relay
