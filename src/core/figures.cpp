#include "core/figures.hpp"

#include <array>
#include <charconv>
#include <cstddef>
#include <limits>

namespace walrelay {
namespace {

std::string with_digits(double value, int digits) {
    constexpr std::size_t sign_point_and_digits = 16;
    std::array<char, std::numeric_limits<double>::max_exponent10 + sign_point_and_digits> text;
    const auto end = std::to_chars(text.data(), text.data() + text.size(), value,
                                   std::chars_format::fixed, digits)
                         .ptr;
    return {text.data(), end};
}

}  // namespace

std::string show_bytes(double bytes) {
    constexpr std::array units{"B", "kB", "MB", "GB", "TB"};
    constexpr double step = 1000;
    std::size_t unit = 0;
    while (bytes >= step && unit + 1 < units.size()) {
        bytes /= step;
        ++unit;
    }
    return with_digits(bytes, unit == 0 ? 0 : 1) + ' ' + units.at(unit);
}

std::string show_seconds(double seconds) {
    constexpr double milliseconds_in_a_second = 1000;
    constexpr double minute = 60;
    constexpr double hour = 3600;
    constexpr double day = 86400;
    if (seconds > 0 && seconds < 1) {
        return with_digits(seconds * milliseconds_in_a_second, 2) + " ms";
    }
    if (seconds < minute) {
        return with_digits(seconds, 1) + " s";
    }
    if (seconds < hour) {
        return with_digits(seconds / minute, 1) + " min";
    }
    return seconds < day ? with_digits(seconds / hour, 1) + " h"
                         : with_digits(seconds / day, 1) + " d";
}

}  // namespace walrelay
