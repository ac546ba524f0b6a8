#include "core/lsn.hpp"

#include <charconv>
#include <cstdio>

namespace walrelay {
namespace {

std::optional<std::uint32_t> parse_half(std::string_view digits) {
    constexpr int hexadecimal = 16;
    std::uint32_t half = 0;
    const char* const end = digits.data() + digits.size();
    const auto [stop, failure] = std::from_chars(digits.data(), end, half, hexadecimal);
    if (failure != std::errc{} || stop != end) {
        return std::nullopt;
    }
    return half;
}

}  // namespace

std::string to_string(lsn position) {
    constexpr unsigned half_bits = 32;
    char text[sizeof "FFFFFFFF/FFFFFFFF"];
    const int length = std::snprintf(text, sizeof text, "%X/%X",
                                     static_cast<unsigned>(position.value >> half_bits),
                                     static_cast<unsigned>(position.value));
    return {text, static_cast<std::size_t>(length)};
}

std::optional<lsn> parse_lsn(std::string_view text) {
    constexpr unsigned half_bits = 32;
    const auto slash = text.find('/');
    if (slash == std::string_view::npos) {
        return std::nullopt;
    }
    const auto high = parse_half(text.substr(0, slash));
    const auto low = parse_half(text.substr(slash + 1));
    if (!high || !low) {
        return std::nullopt;
    }
    return lsn{(std::uint64_t{*high} << half_bits) | *low};
}

}  // namespace walrelay
