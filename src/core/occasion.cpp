#include "core/occasion.hpp"

#include "core/ascii.hpp"

namespace walrelay {
namespace {

constexpr bool is_in_positions(char c) {
    return is_upper_hex(c) || is_lower_hex(c) || c == '.';
}

/// `<number>-<rest>`, the rest of its kind.
template <class Is>
bool is_pair(std::string_view text, Is rest) {
    const auto dash = text.find('-');
    return dash != std::string_view::npos && consists_of(text.substr(0, dash), is_digit) &&
           consists_of(text.substr(dash + 1), rest);
}

/// `<row LSN>-<index>`, after the first timeline `<row LSN>-<index>-<timeline>`.
bool is_republication(std::string_view text) {
    constexpr std::size_t lsn_digits = 16;
    const auto lsn = text.substr(0, lsn_digits);
    const auto rest = text.substr(lsn.size());
    return lsn.size() == lsn_digits && consists_of(lsn, is_upper_hex) && rest.starts_with('-') &&
           (consists_of(rest.substr(1), is_digit) || is_pair(rest.substr(1), is_digit));
}

}  // namespace

occasion_kind occasion_of(std::string_view text) {
    constexpr std::string_view retry = "retry-";
    constexpr std::string_view republish = "republish-";
    constexpr std::string_view replay = "replay-";
    if (text.starts_with(retry) && is_pair(text.substr(retry.size()), is_digit)) {
        return occasion_kind::retry;
    }
    if (text.starts_with(republish) && is_republication(text.substr(republish.size()))) {
        return occasion_kind::republication;
    }
    if (text.starts_with(replay)) {
        const auto rest = text.substr(replay.size());
        if (consists_of(rest, is_digit) || is_pair(rest, is_in_positions)) {
            return occasion_kind::replay;
        }
    }
    return occasion_kind::none;
}

std::optional<std::string_view> without_last_occasion(std::string_view id) {
    const auto mark = id.rfind(occasion_mark);
    const bool is_one =
        mark != std::string_view::npos && occasion_of(id.substr(mark + 1)) != occasion_kind::none;
    return is_one ? std::optional(id.substr(0, mark)) : std::nullopt;
}

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
