#include "relay/lane/stream_end.hpp"

namespace walrelay::relay {

void stream_end::seen(const stream_tail& tail) {
    is_shared_ = tail.shared;
    sequence_ = tail.last_sequence;
    reused_.reset();
    if (newest_ && (newest_->sequence > tail.last_sequence || tail.made_again)) {
        newest_.reset();
    }
    if (tail.final_position) {
        newest_ = {tail.last_sequence, *tail.final_position};
    } else if (const auto at = tail.checkpoint_sequence(); at > 0 && tail.checkpoint()) {
        newest_ = {at, *tail.checkpoint()};
    }
}

void stream_end::seen_position(const stream_tail& tail) {
    if (tail.last_position) {
        last_ = tail.last_position;
        stands_back_ = tail.final_position && tail.final_position->at < last_->at;
    }
}

}  // namespace walrelay::relay
