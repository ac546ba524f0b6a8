#include "relay/machine/write_back_duty.hpp"

namespace walrelay::relay {

void write_back_duty::forget() {
    rows_.forget();
    stall_.reset();
    retry_at_.reset();
}

std::optional<write_back_batch> write_back_duty::next(std::optional<commit_position> stored,
                                                      monotonic_time now) {
    if (retry_at_) {
        return std::nullopt;
    }
    auto batch = rows_.next_batch(stored);
    if (batch) {
        table_ = batch->table;
        stall_.begin(now);
    }
    return batch;
}

std::optional<std::chrono::milliseconds> write_back_duty::written(monotonic_time now) {
    rows_.written();
    backoff_.reset();
    return stall_.end(now);
}

std::chrono::milliseconds write_back_duty::failed(monotonic_time now) {
    rows_.failed();
    stall_.reset();
    const auto delay = backoff_.next();
    retry_at_ = now + delay;
    return delay;
}

bool write_back_duty::retry(monotonic_time now) {
    if (!retry_at_ || *retry_at_ > now) {
        return false;
    }
    retry_at_.reset();
    return true;
}

}  // namespace walrelay::relay
