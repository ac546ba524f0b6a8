#include "core/occasion.hpp"

#include <charconv>

namespace walrelay {

std::optional<letter_retry> parse_retry(std::string_view occasion) {
    constexpr std::string_view name = "retry-";
    if (!occasion.starts_with(name)) {
        return std::nullopt;
    }
    const auto* const end = occasion.data() + occasion.size();
    letter_retry read;
    const auto letter = std::from_chars(occasion.data() + name.size(), end, read.letter);
    if (letter.ec != std::errc{} || letter.ptr == end || *letter.ptr != '-') {
        return std::nullopt;
    }
    const auto count = std::from_chars(letter.ptr + 1, end, read.count);
    if (count.ec != std::errc{} || count.ptr != end || read.letter <= 0 || read.count <= 0) {
        return std::nullopt;
    }
    return read;
}

}  // namespace walrelay
