// What a server has answered in the background, and how long that says something of now. Plain
// data.
#pragma once

#include "core/instant.hpp"
#include "http/report.hpp"

#include <chrono>
#include <optional>
#include <utility>

namespace walrelay::app {

/// An answer that is older says nothing of now, where the next one comes within that time.
inline constexpr std::chrono::seconds facts_hold{60};
/// What is looked at every minute takes its time as well.
inline constexpr std::chrono::seconds findings_hold{180};

template <class Facts>
class polled_answer {
public:
    /// Nothing where the server had no answer. `for_so_long`: until the next one is overdue.
    void answer(std::optional<Facts> found, instant now,
                std::chrono::steady_clock::duration for_so_long = facts_hold) {
        facts_ = std::move(found);
        holds_ = for_so_long;
        if (facts_) {
            at_ = now.monotonic;
        }
    }
    /// `is_there`: the server answers at this moment.
    [[nodiscard]] http::polled<Facts> shown(instant now, bool is_there) const {
        if (!at_) {
            return {};
        }
        const auto age =
            std::chrono::duration_cast<std::chrono::milliseconds>(now.monotonic - *at_);
        return {is_there && age < holds_ ? facts_ : std::nullopt, age};
    }

private:
    std::optional<Facts> facts_;
    std::optional<monotonic_time> at_;
    std::chrono::steady_clock::duration holds_{};
};

}  // namespace walrelay::app
