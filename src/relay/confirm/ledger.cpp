#include "relay/confirm/ledger.hpp"

#include "core/assert.hpp"

#include <algorithm>
#include <utility>

namespace walrelay::relay {

void ledger::transaction_ended(std::optional<commit_position> last_event,
                               std::optional<commit_position> last_published, lsn end) {
    const bool stored = !last_event || (stored_ && *last_event <= *stored_);
    if (stored && pending_.empty()) {
        ack(last_published, end);
    } else if (!last_event) {
        // Rides on the transaction before it, so that a busy database with few outbox rows does
        // not make this queue grow.
        pending_.back().end = std::max(pending_.back().end, end);
    } else {
        WALRELAY_ASSERT(pending_.empty() || pending_.back().last_event < *last_event);
        if (pending_.full()) {
            pending_.set_capacity(2 * pending_.capacity());
        }
        pending_.push_back({*last_event, last_published, end});
    }
}

void ledger::set_aside(commit_position where, std::optional<commit_position> before) {
    for (auto& each : pending_) {
        if (each.last_published == where) {
            each.last_published = last_published_without(where, before);
        }
    }
}

void ledger::stored_up_to(commit_position where) {
    if (stored_ && where <= *stored_) {
        return;
    }
    stored_ = where;
    while (!pending_.empty() && pending_.front().last_event <= where) {
        ack(pending_.front().last_published, pending_.front().end);
        pending_.pop_front();
    }
}

bool ledger::idle_at(lsn end) {
    const auto agreed = std::min(std::exchange(said_idle_, end), end);
    if (settled()) {
        ack(std::nullopt, agreed);
    } else {
        // Where it is not asked it does not repeat itself: what it says now counts as soon as the
        // rest is stored.
        pending_.back().end = std::max(pending_.back().end, agreed);
    }
    return agreed < end;
}

void ledger::ack(std::optional<commit_position> last_published, lsn end) {
    if (last_published) {
        acked_event_ = last_published;
    }
    acked_ = std::max(acked_, end);
}

}  // namespace walrelay::relay
