#include "traces/trace_parent.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>

namespace walrelay::traces {
namespace {

// <version, 2 digits>-<trace id, 32>-<parent id, 16>-<flags, 2>
constexpr std::size_t version_digits = 2;
constexpr std::size_t trace_at = 3;
constexpr std::size_t span_at = 36;
constexpr std::size_t flags_at = 53;
constexpr std::size_t whole = 55;

bool is_hex(std::string_view text) {
    return std::ranges::all_of(
        text, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

bool is_zero(std::string_view text) {
    return text.find_first_not_of('0') == std::string_view::npos;
}

template <class Id>
std::optional<Id> read_id(std::string_view text) {
    if (!is_hex(text) || is_zero(text)) {
        return std::nullopt;
    }
    Id id{};
    std::ranges::copy(text, id.begin());
    return id;
}

/// The lowest bit of the flags.
bool says_sampled(char last_digit) {
    constexpr std::string_view odd = "13579bdf";
    return odd.find(last_digit) != std::string_view::npos;
}

}  // namespace

std::optional<trace_parent> parse_trace_parent(std::string_view text) {
    if (text.size() < whole || text[trace_at - 1] != '-' || text[span_at - 1] != '-' ||
        text[flags_at - 1] != '-') {
        return std::nullopt;
    }
    const auto version = text.substr(0, version_digits);
    const auto flags = text.substr(flags_at, whole - flags_at);
    const bool ends = text.size() == whole || (version != "00" && text[whole] == '-');
    if (!is_hex(version) || version == "ff" || !is_hex(flags) || !ends) {
        return std::nullopt;
    }
    const auto trace = read_id<trace_id>(text.substr(trace_at, std::size(trace_id())));
    const auto span = read_id<span_id>(text.substr(span_at, std::size(span_id())));
    if (!trace || !span) {
        return std::nullopt;
    }
    return trace_parent{*trace, *span, says_sampled(flags.back())};
}

}  // namespace walrelay::traces
