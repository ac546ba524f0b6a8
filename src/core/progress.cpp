#include "core/progress.hpp"

#include <cmath>

namespace walrelay {

std::string with_thousands(std::uint64_t number) {
    constexpr std::size_t group = 3;
    auto text = std::to_string(number);
    for (auto at = text.size(); at > group;) {
        at -= group;
        text.insert(at, ",");
    }
    return text;
}

std::string counted(std::uint64_t count, std::string_view noun) {
    return with_thousands(count) + ' ' + std::string(noun) + (count == 1 ? "" : "s");
}

std::string time_left(double seconds) {
    constexpr double minute = 60;
    constexpr double hour = 60 * minute;
    const auto whole = [](double number) {
        return with_thousands(static_cast<std::uint64_t>(std::llround(std::ceil(number))));
    };
    if (seconds < 2 * minute) {
        return whole(seconds) + " s left";
    }
    return seconds < 2 * hour ? whole(seconds / minute) + " min left"
                              : whole(seconds / hour) + " h left";
}

std::string describe(const progress& how_far, std::string_view of_what) {
    const auto [done, total, is_estimate, seconds] = how_far;
    std::string text = with_thousands(done) + (is_estimate ? " of about " : " of ") +
                       with_thousands(total) + ' ' + std::string(of_what);
    if (done == 0 || seconds <= 0) {
        return text;
    }
    const auto rate = static_cast<double>(done) / seconds;
    text += ", " + with_thousands(static_cast<std::uint64_t>(std::llround(rate))) + " a second";
    if (done > total) {
        return text;
    }
    constexpr std::uint64_t percent = 100;
    const auto left = static_cast<double>(total - done) / rate;
    return text + ", " + std::to_string(done * percent / total) + " %, " + time_left(left);
}

}  // namespace walrelay
