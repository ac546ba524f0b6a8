// Every minute, while it streams, a relay looks at both servers as `walrelay check` does: what it
// finds then is a line of the log, and on the board. It stops nothing: what lets rows pass is the
// matter of facts_watch.
#pragma once

#include "app/both_sides.hpp"
#include "config/settings.hpp"
#include "core/finding.hpp"
#include "core/last_look.hpp"
#include "servers/run_to_end.hpp"

#include <boost/asio/awaitable.hpp>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace walrelay::app {

class self_check {
public:
    static constexpr std::chrono::seconds every{60};
    /// A connection that breaks off at once, again and again, is not looked at.
    static constexpr std::chrono::seconds first_after{5};

    /// Nothing where a server had no answer. One at a time. `sign`: of PostgreSQL now, see
    /// last_look; empty is not known.
    [[nodiscard]] boost::asio::awaitable<std::optional<std::vector<finding>>> look(
        servers::executors on, const config::settings& settings, std::string sign);

private:
    void tell_of_changes(const std::vector<finding>& now) const;

    /// Of the last look that had an answer; in a new process nothing, so that all that is more than
    /// a note is told once.
    std::optional<std::vector<finding>> known_;
    last_look look_;
    std::optional<seen_in_passing> postgres_;
};

/// Those of `now` that are more than notes and that `before` lacks, by code and words but not by
/// the figures in them.
[[nodiscard]] std::vector<finding> new_findings(const std::vector<finding>& before,
                                                const std::vector<finding>& now);
/// The same of notes: what somebody has changed meanwhile, and may not have meant.
[[nodiscard]] std::vector<finding> new_notes(const std::vector<finding>& before,
                                             const std::vector<finding>& now);

}  // namespace walrelay::app
