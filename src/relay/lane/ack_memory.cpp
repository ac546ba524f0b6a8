#include "relay/lane/ack_memory.hpp"

namespace walrelay::relay {

void ack_memory::keep(const message& acked) {
    if (acked_.size() < limit_) {
        acked_.insert_or_assign(acked.where.at, known{acked.where.origin, acked.id});
    }
}

bool ack_memory::has(const message& content) const {
    const auto found = acked_.find(content.where.at);
    return found != acked_.end() && found->second.origin == content.where.origin &&
           found->second.id == content.id;
}

void ack_memory::forget_up_to(commit_position where) {
    acked_.erase(acked_.begin(), acked_.upper_bound(where));
}

}  // namespace walrelay::relay
