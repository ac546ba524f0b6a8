#include "relay/machine/dead_letter_duty.hpp"

#include <algorithm>

namespace walrelay::relay {

std::shared_ptr<const dead_letters> dead_letter_duty::next(monotonic_time now) {
    auto batch = queue_.next_batch();
    if (batch) {
        stall_.begin(now);
    }
    return batch;
}

std::shared_ptr<const dead_letters> dead_letter_duty::clear() {
    stall_.reset();
    return queue_.clear();
}

dead_letter_duty::outcome dead_letter_duty::stored(monotonic_time now) {
    outcome done;
    done.letters = queue_.stored();
    done.stalled_for = stall_.end(now);
    for (const auto& letter : *done.letters) {
        done.places.push_back(letter.where.at);
        if (auto line = told_.stored(letter, now)) {
            done.lines.push_back(std::move(*line));
        }
    }
    count_ += done.letters->size();
    std::ranges::sort(done.places);
    return done;
}

}  // namespace walrelay::relay
