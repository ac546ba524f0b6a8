#include "relay/confirm/stored_proof.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace walrelay::relay {
namespace {

/// Between two questions: far below the second that the witness takes, far above what one costs.
constexpr std::chrono::milliseconds pause{50};

}  // namespace

void stored_proof::shown(claim what) {
    proved_ = std::move(what);
    is_open_ = false;
    asked_.reset();
}

std::optional<commit_position> stored_proof::stored_of(const std::optional<commit_position>& up_to,
                                                       const std::optional<stored_message>& newest,
                                                       std::uint64_t stored_count) {
    is_open_ = stored_count != proved_.stored_count || newest != proved_.newest;
    if (!is_open_) {
        proved_.up_to = up_to;
    }
    if (!up_to || !proved_.up_to) {
        return std::nullopt;
    }
    return std::min(*up_to, *proved_.up_to);
}

void stored_proof::begin_history() {
    proved_.up_to.reset();
    if (asked_) {
        asked_->up_to.reset();
    }
}

std::optional<monotonic_time> stored_proof::deadline() const {
    if (asked_ || !is_open_) {
        return std::nullopt;
    }
    return last_asked_ ? *last_asked_ + pause : monotonic_time{};
}

void stored_proof::asked(claim what, monotonic_time now) {
    asked_ = std::move(what);
    last_asked_ = now;
}

void stored_proof::answered() {
    if (auto has = std::exchange(asked_, std::nullopt)) {
        proved_ = std::move(*has);
    }
}

}  // namespace walrelay::relay
