#include "relay/lane/message_window.hpp"

#include "core/assert.hpp"

#include <utility>

namespace walrelay::relay {
namespace {

// What a string of a free place may keep: enough for the usual row, so little that a whole window
// of them stays within a few megabytes.
constexpr std::size_t kept_bytes = 1024;

}  // namespace

message_window::message_window(std::size_t most_messages, std::size_t most_bytes)
    : ring_(most_messages), most_bytes_(most_bytes) {
    WALRELAY_ASSERT(most_messages > 0);
}

std::optional<std::uint64_t> message_window::find(const position& where) const {
    for (auto index = first_; index != end_; ++index) {
        if (at(index).content.where == where) {
            return index;
        }
    }
    return std::nullopt;
}

message& message_window::vacancy() {
    WALRELAY_ASSERT(size() < ring_.size());
    window_entry& free = at(end_);
    if (std::exchange(free.touched, true)) {
        free.content.clear(kept_bytes);
    }
    return free.content;
}

window_entry& message_window::take_in() {
    window_entry& added = at(end_);
    added.sent = false;
    added.offered = false;
    added.stored = false;
    added.settled = false;
    added.in_stream = false;
    added.waiting = false;
    added.next_of_aggregate = 0;
    bytes_ += added.content.size_bytes();
    ++end_;
    return added;
}

void message_window::drop_first() {
    window_entry& leaving = at(first_);
    bytes_ -= leaving.content.size_bytes();
    leaving.content.clear(kept_bytes);
    leaving.row.clear(kept_bytes);
    leaving.touched = false;
    ++first_;
}

void message_window::exchange_first_id(std::string& other) {
    auto& id = at(first_).content.id;
    bytes_ -= id.size();
    std::swap(other, id);
    bytes_ += id.size();
}

}  // namespace walrelay::relay
