// What a process knows of kept positions, for those who watch it: which there are, what was given
// up of them, and whether replays that read from them come on. Asks no server.
#pragma once

#include "app/polled_answer.hpp"
#include "core/instant.hpp"
#include "core/kept_position.hpp"
#include "http/report.hpp"

#include <cstdint>
#include <optional>

namespace walrelay::app {

class kept_watch {
public:
    /// Nothing where the server had no answer.
    void were_read(std::optional<kept_positions> found, instant now);
    /// Counted over all lives of the relay.
    void was_dropped(kept_kind what, giving_way why, instant now);
    void trail_was_moved_on(giving_way why, instant now);

    /// `is_there`: PostgreSQL is connected.
    void show_in(http::relay_report& report, instant now, bool is_there) const;

private:
    struct loss {
        instant at;
        kept_kind what;
        giving_way why;
    };
    /// Of all that are unfinished, and since when it has been the same.
    struct replay_progress {
        std::uint64_t remaining_rows;
        monotonic_time since;
    };
    void note_loss(kept_kind what, giving_way why, instant now);

    polled_answer<kept_positions> positions_;
    kept_counts counts_;
    std::optional<loss> last_given_up_;
    /// Nothing while no replay is unfinished.
    std::optional<replay_progress> replays_;
};

}  // namespace walrelay::app
