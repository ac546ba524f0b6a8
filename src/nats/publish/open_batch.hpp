// Which publishes share a fast batch of nats-server (2.14 and newer): those that follow each other
// and wait together to be written. Pure.
#pragma once

#include <cstdint>

namespace walrelay::nats {

/// The batch that was begun and not ended. The last message ends it; which one that is turns out
/// when nothing more waits, so a batch is never left open for the server to forget.
class open_batch {
public:
    /// Each batch costs two answers, so that more would spare next to nothing.
    static constexpr std::uint32_t messages_max = 100;

    /// How many messages it has; 0 while there is none.
    [[nodiscard]] std::uint32_t size() const { return size_; }
    /// The number of the publish that began it.
    [[nodiscard]] std::uint64_t first() const { return first_; }
    [[nodiscard]] bool is_full() const { return size_ == messages_max; }
    /// Whether the publish of this number goes on with it.
    [[nodiscard]] bool is_followed_by(std::uint64_t index) const {
        return size_ > 0 && !is_full() && index == first_ + size_;
    }
    void begin(std::uint64_t index) {
        first_ = index;
        size_ = 1;
    }
    void grow() { ++size_; }
    void end() { size_ = 0; }

private:
    std::uint64_t first_ = 0;
    std::uint32_t size_ = 0;
};

}  // namespace walrelay::nats
