// See diary.hpp.
#include "soak/diary.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>

namespace walrelay::soak {
namespace {

/// Of what has not ended.
constexpr moment open_end = moment::max();

}  // namespace

diary::happening::happening(diary& owner, const std::string& kind)
    : owner_(owner), index_(owner.begin(kind)) {}

void diary::happening::end() {
    if (!ended_) {
        owner_.end(index_);
        ended_ = true;
    }
}

std::size_t diary::begin(const std::string& kind) {
    const std::scoped_lock lock(mutex_);
    entries_.push_back({.kind = kind, .when = {clock::now(), open_end}});
    return entries_.size() - 1;
}

void diary::end(std::size_t index) {
    const std::scoped_lock lock(mutex_);
    entries_[index].when.end = clock::now();
}

std::vector<diary_entry> diary::entries() const {
    const std::scoped_lock lock(mutex_);
    auto result = entries_;
    for (auto& entry : result) {
        entry.when.end = std::min(entry.when.end, clock::now());
    }
    return result;
}

std::chrono::microseconds outside(const period& wait, const std::vector<period>& excused) {
    auto left = wait.end - wait.begin;
    for (const auto& each : excused) {
        if (overlap(wait, each)) {
            left -= std::min(wait.end, each.end) - std::max(wait.begin, each.begin);
        }
    }
    return std::chrono::duration_cast<std::chrono::microseconds>(left);
}

std::vector<period> merged(std::vector<period> periods) {
    std::sort(periods.begin(), periods.end(),
              [](const period& one, const period& other) { return one.begin < other.begin; });
    std::vector<period> result;
    for (const auto& each : periods) {
        if (!result.empty() && each.begin <= result.back().end) {
            result.back().end = std::max(result.back().end, each.end);
        } else {
            result.push_back(each);
        }
    }
    return result;
}

std::string time_of_day(moment when) {
    const auto since =
        std::chrono::duration_cast<std::chrono::milliseconds>(when.time_since_epoch());
    constexpr int thousand = 1000;
    return fmt::format("{:%H:%M:%S}.{:03}", fmt::gmtime(clock::to_time_t(when)),
                       since.count() % thousand);
}

}  // namespace walrelay::soak
