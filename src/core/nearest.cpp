// Edit distance with swaps of neighbours (optimal string alignment), three rows at a time.
#include "core/nearest.hpp"

#include "core/ascii.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace walrelay {
namespace {

/// A name cut short or with an ending more is near, however long the rest is.
std::size_t distance(std::string_view written, std::string_view known) {
    constexpr std::size_t shortest_stem = 3;
    const bool stem = written.size() >= shortest_stem &&
                      (known.starts_with(written) || written.starts_with(known));
    return stem ? 1 : edit_distance(written, known);
}

}  // namespace

std::string folded_name(std::string_view name) {
    std::string made;
    for (const char each : name) {
        if (each != '_') {
            made += lower(each);
        }
    }
    return made;
}

std::size_t edit_distance(std::string_view left, std::string_view right) {
    std::vector<std::size_t> before(right.size() + 1);
    std::vector<std::size_t> above(right.size() + 1);
    std::vector<std::size_t> row(right.size() + 1);
    std::iota(above.begin(), above.end(), std::size_t{0});
    for (std::size_t i = 1; i <= left.size(); ++i) {
        row[0] = i;
        for (std::size_t j = 1; j <= right.size(); ++j) {
            const std::size_t replaced = above[j - 1] + (left[i - 1] == right[j - 1] ? 0U : 1U);
            row[j] = std::min({above[j] + 1, row[j - 1] + 1, replaced});
            if (i > 1 && j > 1 && left[i - 1] == right[j - 2] && left[i - 2] == right[j - 1]) {
                row[j] = std::min(row[j], before[j - 2] + 1);
            }
        }
        std::swap(before, above);
        std::swap(above, row);
    }
    return above.back();
}

std::optional<std::string> nearest(std::string_view written,
                                   const std::vector<std::string>& known) {
    const auto nearer = [&](const std::string& left, const std::string& right) {
        return distance(written, left) < distance(written, right);
    };
    const auto best = std::min_element(known.begin(), known.end(), nearer);
    // Nobody means a name that shares less than two thirds of its characters.
    const bool meant = best != known.end() && distance(written, *best) <= 1 + written.size() / 3;
    return meant ? std::optional(*best) : std::nullopt;
}

}  // namespace walrelay
