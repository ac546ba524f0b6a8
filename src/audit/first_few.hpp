// Keeps the findings with the smallest numbers, of any number of them, in the order of the numbers.
#pragma once

#include "audit/report.hpp"

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <utility>
#include <vector>

namespace walrelay::audit {

class first_few {
public:
    explicit first_few(std::size_t limit) : limit_(limit) {}

    /// Whether a finding of this number would be kept now: asked before its texts are made.
    [[nodiscard]] bool wants(std::uint64_t number) const {
        return limit_ > 0 && (kept_.size() < limit_ || number < std::prev(kept_.end())->first);
    }

    void add(std::uint64_t number, finding one) {
        kept_.emplace(number, std::move(one));
        if (kept_.size() > limit_) {
            kept_.erase(std::prev(kept_.end()));
        }
    }

    [[nodiscard]] std::vector<finding> take() {
        std::vector<finding> all;
        for (auto& [number, one] : kept_) {
            all.push_back(std::move(one));
        }
        kept_.clear();
        return all;
    }

private:
    std::size_t limit_;
    std::multimap<std::uint64_t, finding> kept_;
};

}  // namespace walrelay::audit
