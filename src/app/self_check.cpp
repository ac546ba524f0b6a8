#include "app/self_check.hpp"

#include "app/clock.hpp"
#include "core/ascii.hpp"
#include "log/log.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace walrelay::app {
namespace {

/// Bytes and ages grow from one look to the next, and it is the same finding.
std::string without_figures(std::string text) {
    std::erase_if(text, is_digit);
    return text;
}

bool is_note(const finding& one) {
    return one.severity == finding_severity::note;
}

std::vector<finding> new_ones(const std::vector<finding>& before, const std::vector<finding>& now,
                              bool notes) {
    std::vector<finding> made;
    for (const auto& each : now) {
        const bool is_known = std::ranges::any_of(before, [&](const finding& one) {
            return one.code.text() == each.code.text() &&
                   without_figures(one.what) == without_figures(each.what);
        });
        if (!is_known && is_note(each) == notes) {
            made.push_back(each);
        }
    }
    return made;
}

}  // namespace

std::vector<finding> new_findings(const std::vector<finding>& before,
                                  const std::vector<finding>& now) {
    return new_ones(before, now, false);
}

std::vector<finding> new_notes(const std::vector<finding>& before,
                               const std::vector<finding>& now) {
    return new_ones(before, now, true);
}

boost::asio::awaitable<std::optional<std::vector<finding>>> self_check::look(
    servers::executors on, const config::settings& settings, std::string sign) {
    const auto at = own_now().monotonic;
    if (!look_.still_holds(sign, at)) {
        postgres_.reset();
    }
    const bool asks = !postgres_;
    auto found = co_await look_in_passing(std::move(on), settings, postgres_);
    if (!postgres_) {
        look_.forget();
    } else if (asks) {
        look_.was_made(std::move(sign), at);
    }
    if (found) {
        tell_of_changes(*found);
        known_ = *found;
    }
    co_return std::move(found);
}

void self_check::tell_of_changes(const std::vector<finding>& now) const {
    const auto before = known_.value_or(std::vector<finding>{});
    for (const auto& each : new_findings(before, now)) {
        log<"finding">(each.what + "; fix: " + each.remedy,
                       with<"code">(std::string(each.code.text())));
    }
    for (const auto& each : new_findings(now, before)) {
        log<"finding_is_over">("this is over: " + each.what,
                               with<"code">(std::string(each.code.text())));
    }
    if (!known_) {
        return;
    }
    for (const auto& each : new_notes(before, now)) {
        log<"finding_noted">(each.what + ": " + each.remedy,
                             with<"code">(std::string(each.code.text())));
    }
}

}  // namespace walrelay::app
