// Numbers with a unit: durations and byte sizes.
#include "config/quote.hpp"
#include "config/read.hpp"

#include <array>
#include <charconv>
#include <limits>
#include <span>

namespace walrelay::config {
namespace {

using std::chrono::milliseconds;

struct unit {
    std::string_view name;
    std::uint64_t factor;
};

/// Smallest first.
constexpr std::array<unit, 5> duration_units{
    {{"ms", 1}, {"s", 1000}, {"m", 60'000}, {"h", 3'600'000}, {"d", 86'400'000}}};
constexpr std::array<unit, 4> shown_size_units{
    {{"B", 1}, {"KiB", 1ULL << 10U}, {"MiB", 1ULL << 20U}, {"GiB", 1ULL << 30U}}};
constexpr std::array<unit, 7> size_units{{{"B", 1},
                                          {"kB", 1000},
                                          {"KiB", 1ULL << 10U},
                                          {"MB", 1'000'000},
                                          {"MiB", 1ULL << 20U},
                                          {"GB", 1'000'000'000},
                                          {"GiB", 1ULL << 30U}}};
constexpr milliseconds longest = std::chrono::hours(24) * 365;
constexpr std::string_view duration_remedy =
    R"(write a number and a unit, such as "250ms", "5s" or "7d")";
constexpr std::string_view size_remedy =
    R"(write a number and a unit, such as "64KiB", "32MiB" or "1GiB")";

/// The number in the smallest unit, or the largest number there is where it does not fit; nothing
/// if the text is not digits and a unit.
std::optional<std::uint64_t> scaled(std::string_view text, std::span<const unit> units) {
    constexpr std::uint64_t too_much = std::numeric_limits<std::uint64_t>::max();
    std::uint64_t count = 0;
    const char* end = text.data() + text.size();
    const auto [stopped, failure] = std::from_chars(text.data(), end, count);
    if (failure == std::errc::invalid_argument) {
        return std::nullopt;
    }
    const std::string_view name(stopped, static_cast<std::size_t>(end - stopped));
    for (const unit& known : units) {
        if (known.name == name) {
            const bool fits = failure == std::errc{} && count <= too_much / known.factor;
            return fits ? count * known.factor : too_much;
        }
    }
    return std::nullopt;
}

std::string shown(std::uint64_t count, std::span<const unit> units) {
    unit fitting = units.front();
    for (const unit& candidate : units) {
        if (count != 0 && count % candidate.factor == 0) {
            fitting = candidate;
        }
    }
    return std::to_string(count / fitting.factor) + std::string(fitting.name);
}

complaint not_a(std::string_view kind, std::string_view remedy, const value& found) {
    const std::string* text = text_of(found);
    if (text == nullptr) {
        return expected("a " + std::string(kind), found, std::string(remedy));
    }
    return {in_quotes(*text) + " is not a " + std::string(kind), std::string(remedy)};
}

template <class Value>
complaint out_of(const bounds<Value>& allowed, const value& found) {
    const std::string least = in_quotes(show(allowed.least));
    return {in_quotes(*text_of(found)) + " is out of range",
            allowed.most ? "write from " + least + " to " + in_quotes(show(*allowed.most))
                         : "write at least " + least};
}

std::optional<std::uint64_t> read_quantity(const value& of, std::span<const unit> units) {
    const std::string* text = text_of(of);
    return text == nullptr ? std::nullopt : scaled(*text, units);
}

}  // namespace

read_result<milliseconds> read_duration(const value& of, bounds<milliseconds> allowed) {
    const auto count = read_quantity(of, duration_units);
    if (!count) {
        return not_a("duration", duration_remedy, of);
    }
    if (*count > static_cast<std::uint64_t>(longest.count())) {
        return out_of(bounds<milliseconds>{allowed.least, allowed.most.value_or(longest)}, of);
    }
    const milliseconds duration(static_cast<std::int64_t>(*count));
    if (duration < allowed.least || (allowed.most && duration > *allowed.most)) {
        return out_of(allowed, of);
    }
    return duration;
}

read_result<byte_size> read_size(const value& of, bounds<byte_size> allowed) {
    const auto count = read_quantity(of, size_units);
    if (!count) {
        return not_a("byte size", size_remedy, of);
    }
    const byte_size size{*count};
    if (size < allowed.least || (allowed.most && size > *allowed.most)) {
        return out_of(allowed, of);
    }
    return size;
}

std::string show(milliseconds duration) {
    // A setting is never negative: read_duration knows no sign.
    return duration.count() == 0
               ? "0s"
               : shown(static_cast<std::uint64_t>(duration.count()), duration_units);
}

std::string show(byte_size size) {
    return shown(size.bytes, shown_size_units);
}

}  // namespace walrelay::config
