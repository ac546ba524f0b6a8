// See latency_book.hpp.
#include "demo/latency_book.hpp"

#include <algorithm>

namespace walrelay::demo {

void latency_book::about_to_commit(const std::vector<std::string>& ids) {
    const std::lock_guard lock(mutex_);
    const auto now = clock::now();
    for (const auto& id : ids) {
        committing_[id] = now;
    }
}

std::optional<duration> latency_book::arrived(const std::string& id) {
    const auto now = clock::now();
    const std::lock_guard lock(mutex_);
    const auto found = committing_.find(id);
    if (found == committing_.end()) {
        return std::nullopt;
    }
    const duration taken = now - found->second;
    committing_.erase(found);
    measured_.push_back(taken);
    return taken;
}

latencies latency_book::result() const {
    const std::lock_guard lock(mutex_);
    if (measured_.empty()) {
        return {};
    }
    auto sorted = measured_;
    std::sort(sorted.begin(), sorted.end());
    constexpr std::size_t hundred = 100;
    return {.count = sorted.size(),
            .median = sorted[sorted.size() / 2],
            .slowest_of_a_hundred = sorted[sorted.size() * (hundred - 1) / hundred],
            .slowest = sorted.back()};
}

}  // namespace walrelay::demo
