// What a value means where a key of a certain kind asks for it.
#include "config/read.hpp"

#include "config/quote.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <optional>
#include <span>

namespace walrelay::config {
namespace {

using std::chrono::milliseconds;

struct unit {
    std::string_view name;
    std::uint64_t factor;
};

/// Smallest first; the first four of the sizes are those in which sizes are shown.
constexpr std::array<unit, 5> duration_units{
    {{"ms", 1}, {"s", 1000}, {"m", 60'000}, {"h", 3'600'000}, {"d", 86'400'000}}};
constexpr std::array<unit, 7> size_units{{{"B", 1},
                                          {"KiB", 1ULL << 10U},
                                          {"MiB", 1ULL << 20U},
                                          {"GiB", 1ULL << 30U},
                                          {"kB", 1000},
                                          {"MB", 1'000'000},
                                          {"GB", 1'000'000'000}}};
constexpr milliseconds longest = std::chrono::hours(24) * 365;

std::string_view trimmed(std::string_view text) {
    constexpr std::string_view blanks = " \t";
    const std::size_t begin = std::min(text.find_first_not_of(blanks), text.size());
    return text.substr(begin, text.find_last_not_of(blanks) + 1 - begin);
}

/// The number in the smallest unit, or the largest number there is where it does not fit; nothing
/// if the text is not digits and a unit.
std::optional<std::uint64_t> scaled(std::string_view text, std::span<const unit> units) {
    constexpr std::uint64_t too_much = std::numeric_limits<std::uint64_t>::max();
    std::uint64_t count = 0;
    const char* end = text.data() + text.size();
    const auto [stopped, failure] = std::from_chars(text.data(), end, count);
    const std::string_view name(stopped, static_cast<std::size_t>(end - stopped));
    const auto* const known = std::find_if(units.data(), units.data() + units.size(),
                                           [&](const unit& each) { return each.name == name; });
    if (failure == std::errc::invalid_argument || known == units.data() + units.size()) {
        return std::nullopt;
    }
    const bool fits = failure == std::errc{} && count <= too_much / known->factor;
    return fits ? count * known->factor : too_much;
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

std::uint64_t count_of(milliseconds duration) {
    // A setting is never negative: read_quantity knows no sign.
    return static_cast<std::uint64_t>(duration.count());
}

std::uint64_t count_of(byte_size size) {
    return size.bytes;
}

/// The count in the smallest unit. `kind` is what it should be, `remedy` how it is written.
template <class Value>
read_result<std::uint64_t> read_quantity(const value& of, std::span<const unit> units,
                                         const bounds<Value>& allowed, const std::string& kind,
                                         const std::string& remedy) {
    const std::string* text = text_of(of);
    if (text == nullptr) {
        return expected(kind, of, remedy);
    }
    const auto count = scaled(*text, units);
    if (!count) {
        return complaint{in_quotes(*text) + " is not " + kind, remedy};
    }
    if (*count < count_of(allowed.least) || *count > count_of(allowed.most)) {
        return complaint{in_quotes(*text) + " is out of range",
                         "write from " + in_quotes(show(allowed.least)) + " to " +
                             in_quotes(show(allowed.most))};
    }
    return *count;
}

}  // namespace

std::string_view type_name(const value& of) {
    constexpr std::array<std::string_view, 7> names{"a text", "a string", "a boolean", "an integer",
                                                    "",       "a list",   "a table"};
    const auto* other = std::get_if<foreign>(&of.data);
    return other != nullptr ? other->type : names.at(of.data.index());
}

const std::string* text_of(const value& of) {
    const auto* plain = std::get_if<plain_text>(&of.data);
    return plain != nullptr ? &plain->text : std::get_if<std::string>(&of.data);
}

complaint expected(std::string_view kind, const value& found, std::string remedy) {
    return {"expected " + std::string(kind) + ", found " + std::string(type_name(found)),
            std::move(remedy)};
}

read_result<std::string> read_text(const value& of) {
    const std::string* text = text_of(of);
    if (text == nullptr) {
        return expected("a string", of, "write it in quotes");
    }
    if (text->find('\0') != std::string::npos) {
        return complaint{"holds a NUL character", "remove that character"};
    }
    return *text;
}

read_result<bool> read_boolean(const value& of) {
    if (const auto* boolean = std::get_if<bool>(&of.data)) {
        return *boolean;
    }
    const std::string remedy = "write true or false";
    const auto* plain = std::get_if<plain_text>(&of.data);
    if (plain == nullptr) {
        return expected("a boolean", of, remedy);
    }
    if (plain->text != "true" && plain->text != "false") {
        return complaint{in_quotes(plain->text) + " is neither true nor false", remedy};
    }
    return plain->text == "true";
}

read_result<std::int64_t> read_integer(const value& of, bounds<std::int64_t> allowed) {
    const std::string remedy = "write a whole number from " + std::to_string(allowed.least) +
                               " to " + std::to_string(allowed.most);
    std::int64_t number = 0;
    if (const auto* typed = std::get_if<std::int64_t>(&of.data)) {
        number = *typed;
    } else if (const auto* plain = std::get_if<plain_text>(&of.data)) {
        const char* end = plain->text.data() + plain->text.size();
        const auto [stopped, failure] = std::from_chars(plain->text.data(), end, number);
        if (failure != std::errc{} || stopped != end) {
            return complaint{in_quotes(plain->text) + " is not a whole number", remedy};
        }
    } else {
        return expected("an integer", of, remedy);
    }
    if (number < allowed.least || number > allowed.most) {
        return complaint{std::to_string(number) + " is out of range", remedy};
    }
    return number;
}

read_result<milliseconds> read_duration(const value& of, milliseconds least) {
    const auto count =
        read_quantity(of, duration_units, bounds<milliseconds>{least, longest}, "a duration",
                      R"(write a number and a unit, such as "250ms", "5s" or "7d")");
    if (!count) {
        return count.error();
    }
    return milliseconds(static_cast<std::int64_t>(*count));
}

read_result<byte_size> read_size(const value& of, bounds<byte_size> allowed) {
    const auto count =
        read_quantity(of, size_units, allowed, "a byte size",
                      R"(write a number and a unit, such as "64KiB", "32MiB" or "1GiB")");
    if (!count) {
        return count.error();
    }
    return byte_size{*count};
}

read_result<value_list> read_list(const value& of) {
    if (const auto* list = std::get_if<value_list>(&of.data)) {
        return *list;
    }
    const auto* plain = std::get_if<plain_text>(&of.data);
    if (plain == nullptr) {
        return expected("a list of strings", of, "write it in brackets, such as [\"a\", \"b\"]");
    }
    value_list elements;
    std::string_view rest = plain->text;
    for (bool more = !trimmed(rest).empty(); more;) {
        const std::size_t comma = rest.find(',');
        elements.push_back({of.where, plain_text{std::string(trimmed(rest.substr(0, comma)))}});
        more = comma != std::string_view::npos;
        rest.remove_prefix(more ? comma + 1 : rest.size());
    }
    return elements;
}

std::string show(milliseconds duration) {
    return duration.count() == 0 ? "0s" : shown(count_of(duration), duration_units);
}

std::string show(byte_size size) {
    return shown(size.bytes, std::span(size_units).first(4));
}

}  // namespace walrelay::config
