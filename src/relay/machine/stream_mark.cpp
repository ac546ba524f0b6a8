#include "relay/machine/stream_mark.hpp"

#include <algorithm>
#include <utility>

namespace walrelay::relay {

void stream_mark::seen(std::optional<stream_owner> shown) {
    is_refused_ = false;
    was_confirmed_ = false;
    if (writing_ && has_other_rules()) {
        // It was to hold for what an earlier look showed.
        known_ = first_step();
    }
    // What this relay has just written need not be there yet.
    const bool lags = known_ && is_being_compared(*known_) && shown != known_ &&
                      std::ranges::find(older_, shown) != older_.end();
    if (writing_ || lags || shown == shown_) {
        return;
    }
    older_.clear();
    // Written by another relay, by an operator, or by this one in a request whose answer was lost.
    known_ = shown;
    shown_ = std::move(shown);
    look_whether_stale();
}

void stream_mark::change(stream_owner to) {
    known_ = std::move(to);
    look_whether_stale();
}

std::optional<stream_owner> stream_mark::take_to_write() {
    if (writing_ || is_refused_ || known_ == shown_) {
        return std::nullopt;
    }
    writing_ = has_other_rules() && !was_confirmed_ ? first_step() : known_;
    return writing_;
}

void stream_mark::written(bool done) {
    const auto tried = std::exchange(writing_, std::nullopt);
    if (done) {
        remember_older();
        shown_ = tried;
        was_confirmed_ = tried && is_being_compared(*tried);
    }
    is_refused_ = !done && !shows_rules();
    look_whether_stale();
}

void stream_mark::remember_older() {
    constexpr std::size_t most = 8;
    if (older_.size() == most) {
        older_.erase(older_.begin());
    }
    older_.push_back(shown_);
}

bool stream_mark::has_other_rules() const {
    if (!known_ || known_->rules.empty() || is_shared(*known_) || is_being_compared(*known_)) {
        return false;
    }
    return !shows_rules() || known_->rules != shown_->rules;
}

stream_owner stream_mark::first_step() const {
    auto step = being_compared(*known_, !shows_rules() || is_compared_with_ids(*shown_));
    if (step == shown_) {
        // Says nothing in a mark without an end of the disorder; the same text would not be sent.
        step.disordered_below = step.disordered_below == lsn{} ? lsn{1} : lsn{};
    }
    return step;
}

void stream_mark::look_whether_stale() {
    is_stale_ = false;
    if (known_ && shows_rules()) {
        // A mark of a version that knew no ids claims nothing of them, and other ids are other
        // rules: it holds, also where it cannot be written.
        auto claimed = *known_;
        if (shown_->ids.empty()) {
            claimed.ids.clear();
        }
        is_stale_ = claimed != *shown_;
    }
}

void stream_mark::leave_as_it_is() {
    known_ = shown_;
    was_confirmed_ = false;
    look_whether_stale();
}

}  // namespace walrelay::relay
