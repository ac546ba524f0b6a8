#include "app/kept_watch.hpp"

#include "app/clock.hpp"

#include <chrono>
#include <cstddef>
#include <utility>

namespace walrelay::app {

void kept_watch::were_read(std::optional<kept_positions> found, instant now) {
    if (found && found->replays.empty()) {
        replays_.reset();
    } else if (found) {
        const auto remaining = remaining_rows_of(*found);
        if (!replays_ || replays_->remaining_rows != remaining) {
            replays_ = {remaining, now.monotonic};
        }
    }
    positions_.answer(std::move(found), now, findings_hold);
}

void kept_watch::note_loss(kept_kind what, giving_way why, instant now) {
    if (is_before_its_time(why)) {
        last_given_up_ = {now, what, why};
    }
}

void kept_watch::was_dropped(kept_kind what, giving_way why, instant now) {
    note_loss(what, why, now);
    auto& counts = what == kept_kind::trail ? counts_.trails : counts_.bookmarks;
    ++counts.at(static_cast<std::size_t>(why));
}

void kept_watch::trail_was_moved_on(giving_way why, instant now) {
    note_loss(kept_kind::trail, why, now);
    ++counts_.moved_on.at(static_cast<std::size_t>(why));
}

void kept_watch::show_in(http::relay_report& report, instant now, bool is_there) const {
    report.kept = positions_.shown(now, is_there);
    report.kept_counts = counts_;
    if (last_given_up_) {
        report.last_given_up = {wall_time_of(last_given_up_->at, now), last_given_up_->what,
                                last_given_up_->why};
    }
    if (replays_ && report.kept.facts) {
        report.replays_still_for =
            std::chrono::duration_cast<std::chrono::microseconds>(now.monotonic - replays_->since);
    }
}

}  // namespace walrelay::app
