// What `walrelay check` prints and what stops `walrelay run`: what is, and the exact command that
// fixes it.
#pragma once

#include "core/finding_code.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace walrelay {

enum class finding_severity {
    /// Not there yet, and `walrelay init` or `walrelay run` makes it.
    note,
    /// Works, but an operator should know.
    warning,
    /// Nothing can be relayed like this.
    error,
};

/// As it stands in JSON and in labels.
[[nodiscard]] constexpr std::string_view to_string(finding_severity severity) {
    switch (severity) {
        case finding_severity::note:
            return "note";
        case finding_severity::warning:
            return "warning";
        case finding_severity::error:
            break;
    }
    return "error";
}

struct finding {
    finding_severity severity = finding_severity::error;
    finding_code code;
    std::string what;
    std::string remedy;
};

/// Whether nothing in the list is an error.
[[nodiscard]] inline bool can_start(const std::vector<finding>& findings) {
    return std::ranges::none_of(
        findings, [](const finding& each) { return each.severity == finding_severity::error; });
}

/// Collects findings; one short method for each severity.
class findings_list {
public:
    void error(finding_code code, std::string what, std::string remedy) {
        found_.push_back({finding_severity::error, code, std::move(what), std::move(remedy)});
    }
    void warning(finding_code code, std::string what, std::string remedy) {
        found_.push_back({finding_severity::warning, code, std::move(what), std::move(remedy)});
    }
    void note(finding_code code, std::string what, std::string remedy) {
        found_.push_back({finding_severity::note, code, std::move(what), std::move(remedy)});
    }
    [[nodiscard]] std::vector<finding> take() { return std::move(found_); }

private:
    std::vector<finding> found_;
};

}  // namespace walrelay
