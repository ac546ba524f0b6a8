#include "servers/findings_error.hpp"

#include "log/log.hpp"

#include <set>
#include <string>

namespace walrelay::servers {
namespace {

/// A relay looks at its servers at every connect. Called on the loop's thread alone, and bounded:
/// what is forgotten is at worst said again.
bool is_said_first(const finding& found) {
    constexpr std::size_t most = 1000;
    static std::set<std::string> said;
    if (said.size() >= most) {
        said.clear();
    }
    return said.insert(found.what).second;
}

}  // namespace

std::optional<error> to_error(const std::vector<finding>& findings, errc code) {
    std::optional<error> first;
    for (const auto& each : findings) {
        if (each.severity == finding_severity::error && !first) {
            first = error{code, each.what, each.remedy};
        } else if (each.severity != finding_severity::note && is_said_first(each)) {
            log_finding(each);
        }
    }
    return first;
}

}  // namespace walrelay::servers
