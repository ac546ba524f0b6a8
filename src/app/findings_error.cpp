#include "app/findings_error.hpp"

#include "app/log.hpp"

namespace walrelay::app {

std::optional<error> to_error(const std::vector<relay::finding>& findings, errc code) {
    std::optional<error> first;
    for (const auto& each : findings) {
        if (each.severity == relay::finding_severity::error && !first) {
            first = error{code, each.what, each.remedy};
        } else if (each.severity != relay::finding_severity::note) {
            log_finding(each);
        }
    }
    return first;
}

}  // namespace walrelay::app
