// How many messages a reading asks for at a time, and what a reading must have seen to be complete.
// Not every way to a stream lets through what is asked for: an account that imports JetStream's API
// gets one answer to a request, limits refuse large batches, routes are cut. Pure.
#pragma once

#include <algorithm>
#include <cstdint>

namespace walrelay::nats {

class batch_pace {
public:
    static constexpr std::uint64_t largest = 8192;

    [[nodiscard]] std::uint64_t size() const { return size_; }

    /// All that was asked for has come. After enough of these, more is asked for again.
    void on_complete() {
        if (size_ < largest && ++complete_ >= wanted_) {
            size_ = std::min(largest, 2 * size_);
            complete_ = 0;
            has_grown_ = true;
        }
    }

    /// Only `got` of them came. A size that was too large once more is tried ever more seldom.
    void on_cut_short(std::uint64_t got) {
        constexpr std::uint64_t least_shrinking = 2;
        constexpr std::uint64_t rarer = 8;
        wanted_ *= has_grown_ ? rarer : 1;
        size_ =
            std::clamp<std::uint64_t>(got, 1, std::max<std::uint64_t>(size_ / least_shrinking, 1));
        complete_ = 0;
        has_grown_ = false;
    }

    /// The server takes no larger batch.
    void limit_to(std::uint64_t most) {
        size_ = std::clamp<std::uint64_t>(most, 1, std::max<std::uint64_t>(size_ / 2, 1));
        complete_ = 0;
        has_grown_ = false;
        wanted_ = UINT64_MAX;
    }

private:
    std::uint64_t size_ = largest;
    std::uint64_t complete_ = 0;
    std::uint64_t wanted_ = 16;
    bool has_grown_ = false;
};

/// What the leader of a stream says of it, after it was read.
struct stream_extent {
    std::uint64_t first = 0;
    std::uint64_t last = 0;
    std::uint64_t messages = 0;
};

/// The least number of messages that a reading from `from` to `to` must have seen: those that the
/// stream still has afterwards, without as many as there can be before and after. What was deleted
/// meanwhile makes it no greater.
[[nodiscard]] constexpr std::uint64_t least_count(const stream_extent& now, std::uint64_t from,
                                                  std::uint64_t to) {
    const auto before = from > now.first ? from - now.first : 0;
    const auto after = now.last > to ? now.last - to : 0;
    const auto elsewhere = before + after;
    return now.messages > elsewhere ? now.messages - elsewhere : 0;
}

}  // namespace walrelay::nats
