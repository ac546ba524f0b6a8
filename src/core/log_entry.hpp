// One line of the log before it is written: an event, one sentence, and the event's fields. There
// is no other way to write a line, and none of these is made without an event of the catalogue and
// exactly its fields: both are checked while this is compiled.
//
//     log_entry::of<"slot_taken">("slot " + slot + " is free", with<"slot">(slot))
#pragma once

#include "core/log_event.hpp"
#include "core/log_events_relay.hpp"
#include "core/log_events_work.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace walrelay {

/// Of a repeated line, after its own.
inline constexpr std::array<std::string_view, 2> repeat_fields{"repeats", "repeat_seconds"};

/// Null where the catalogue has no event of this name.
[[nodiscard]] constexpr const log_event* find_log_event(std::string_view name) {
    for (const auto& each : log_events_relay) {
        if (each.name == name) {
            return &each;
        }
    }
    for (const auto& each : log_events_work) {
        if (each.name == name) {
            return &each;
        }
    }
    return nullptr;
}

/// monostate: not known, and not written.
using log_value = std::variant<std::monostate, std::string, std::uint64_t, double>;

struct log_field {
    std::string_view name;  // of a literal
    log_value value;
};

/// A field whose name is part of its type.
template <name_literal Name>
struct named_field {
    log_value value;
};

namespace log_values {

[[nodiscard]] inline log_value of(std::string text) {
    return text;
}
[[nodiscard]] inline log_value of(double number) {
    return number;
}
template <std::unsigned_integral Number>
[[nodiscard]] log_value of(Number number) {
    return static_cast<std::uint64_t>(number);
}
/// In seconds: the name of such a field ends with them.
template <class Representation, class Period>
[[nodiscard]] log_value of(std::chrono::duration<Representation, Period> time) {
    return std::chrono::duration<double>(time).count();
}
template <class Value>
[[nodiscard]] log_value from(Value&& value) {
    if constexpr (requires { of(std::forward<Value>(value)); }) {
        return of(std::forward<Value>(value));
    } else {
        return std::string(to_string(value));
    }
}
template <class Value>
[[nodiscard]] log_value from(std::optional<Value> value) {
    return value ? from(*std::move(value)) : log_value{};
}

}  // namespace log_values

/// Takes text, unsigned numbers, times, what `to_string` is for, and an optional one of these.
template <name_literal Name, class Value>
[[nodiscard]] named_field<Name> with(Value&& value) {
    return {log_values::from(std::forward<Value>(value))};
}

class log_entry {
public:
    template <name_literal Event, name_literal... Names>
    [[nodiscard]] static log_entry of(std::string text, named_field<Names>... fields) {
        constexpr const auto* event = find_log_event(Event.view());
        static_assert(event != nullptr, "this event is not in core/log_events_*.hpp");
        static_assert(has_fields<Names...>(event->fields),
                      "the event has other fields, or in another order: core/log_events_*.hpp");
        std::vector<log_field> list;
        list.reserve(sizeof...(Names));
        (list.push_back({Names.view(), std::move(fields.value)}), ...);
        return {*event, std::move(text), std::move(list)};
    }

    [[nodiscard]] const log_event& event() const { return *event_; }
    [[nodiscard]] log_severity severity() const { return event_->severity; }
    /// One sentence: one line, and a short one, whatever others say in it. So is each value.
    [[nodiscard]] const std::string& text() const { return text_; }
    [[nodiscard]] const std::vector<log_field>& fields() const { return fields_; }

    /// The same for `times` of them within `span`: "again, 14 times in 30 s: ...", and two fields
    /// more, which any event can have.
    [[nodiscard]] log_entry repeated(std::uint64_t times, std::chrono::milliseconds span) const;

private:
    log_entry(const log_event& event, std::string text, std::vector<log_field> fields);

    template <name_literal... Names>
    static consteval bool has_fields(std::string_view declared) {
        std::size_t at = 0;
        [[maybe_unused]] const auto is_next = [&](std::string_view name) {
            const auto rest = declared.substr(std::min(at, declared.size()));
            const bool is = rest.substr(0, rest.find(' ')) == name && !name.empty();
            at += name.size() + 1;
            return is;
        };
        return (is_next(Names.view()) && ...) && at == (declared.empty() ? 0 : declared.size() + 1);
    }

    const log_event* event_;
    std::string text_;
    std::vector<log_field> fields_;
};

}  // namespace walrelay
