#include "app/self_check.hpp"

#include "app/both_sides.hpp"
#include "log/log.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace walrelay::app {
namespace {

/// Bytes and ages grow from one look to the next, and it is the same finding.
std::string without_figures(std::string text) {
    std::erase_if(text, [](char each) { return each >= '0' && each <= '9'; });
    return text;
}

}  // namespace

std::vector<finding> new_findings(const std::vector<finding>& before,
                                  const std::vector<finding>& now) {
    std::vector<finding> made;
    for (const auto& each : now) {
        const bool is_known = std::ranges::any_of(before, [&](const finding& one) {
            return one.code.text() == each.code.text() &&
                   without_figures(one.what) == without_figures(each.what);
        });
        if (!is_known && each.severity != finding_severity::note) {
            made.push_back(each);
        }
    }
    return made;
}

boost::asio::awaitable<std::optional<std::vector<finding>>> self_check::look(
    servers::executors on, const config::settings& settings) {
    auto found = co_await look_in_passing(std::move(on), settings);
    if (found) {
        tell_of_changes(*found);
        known_ = *found;
    }
    co_return std::move(found);
}

void self_check::tell_of_changes(const std::vector<finding>& now) const {
    for (const auto& each : new_findings(known_, now)) {
        log<"finding">(each.what + "; fix: " + each.remedy,
                       with<"code">(std::string(each.code.text())));
    }
    for (const auto& each : new_findings(now, known_)) {
        log<"finding_is_over">("this is over: " + each.what,
                               with<"code">(std::string(each.code.text())));
    }
}

}  // namespace walrelay::app
