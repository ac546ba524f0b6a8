// Spares questions to a server that shows no change since they were answered last.
#pragma once

#include "core/instant.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <utility>

namespace walrelay {

/// When something was asked of a server, and what the server's watched_facts::change_sign was just
/// before. In a new process nothing, so that it is asked.
class last_look {
public:
    /// Asked again after that in any case: an answer can also depend on what is no change of the
    /// server (a file with a password, the clock).
    static constexpr std::chrono::minutes at_most{30};

    /// `sign`: of now; empty where it is not known.
    [[nodiscard]] bool still_holds(const std::string& sign, monotonic_time now) const {
        return made_ && !sign.empty() && sign == made_->sign && now < made_->at + at_most;
    }
    /// `sign`: from before the question, not from after the answer.
    void was_made(std::string sign, monotonic_time at) { made_ = look{std::move(sign), at}; }
    /// It had no answer, or one that time alone may change.
    void forget() { made_.reset(); }

private:
    struct look {
        std::string sign;
        monotonic_time at;
    };
    std::optional<look> made_;
};

}  // namespace walrelay
