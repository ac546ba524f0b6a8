// Watches a write that gets no answer: whether it takes so long that somebody should know. Pure.
//
//     idle -> begun -> due (after `patience`) -> asked -> ended
#pragma once

#include "core/instant.hpp"

#include <chrono>
#include <optional>

namespace walrelay::relay {

class stall_watch {
public:
    /// Longer than a write waits for the commit of its rows, which it tells of by itself.
    static constexpr std::chrono::milliseconds patience{7000};

    /// A write is under way.
    void begin(monotonic_time now) { since_ = since_.value_or(now); }
    /// When `ask` is due; nothing where nothing is under way, or it was asked already.
    [[nodiscard]] std::optional<monotonic_time> deadline() const {
        return since_ && !asked_ ? std::optional(*since_ + patience) : std::nullopt;
    }
    /// Somebody is asked now what keeps it waiting.
    void ask() { asked_ = true; }
    [[nodiscard]] bool is_asked() const { return asked_; }
    /// The stall is told now; returns for how long it has gone on.
    std::chrono::milliseconds tell(monotonic_time now) {
        told_ = true;
        return lasted(now);
    }
    /// The write is done. Returns how long it took, where its stall was told.
    std::optional<std::chrono::milliseconds> end(monotonic_time now) {
        const auto took = told_ ? std::optional(lasted(now)) : std::nullopt;
        reset();
        return took;
    }
    /// What was under way is of no interest any more.
    void reset() { *this = {}; }

private:
    [[nodiscard]] std::chrono::milliseconds lasted(monotonic_time now) const {
        return std::chrono::duration_cast<std::chrono::milliseconds>(now - since_.value_or(now));
    }

    std::optional<monotonic_time> since_;
    bool asked_ = false;
    bool told_ = false;
};

}  // namespace walrelay::relay
