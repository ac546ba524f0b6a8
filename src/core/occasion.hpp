// The ids of messages that publish a row again on purpose: `<id>;<occasion>`. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace walrelay {

inline constexpr char occasion_mark = ';';
/// As often is a row published again that was published again. Bounds the work for an id that
/// somebody else made.
inline constexpr int occasions_limit = 4;

/// Calls `visit` with the id, and with what is left of it without its last occasion, without its
/// last two, and so on: one of these is that of the row.
template <class Visit>
void for_each_row_id(std::string_view id, const Visit& visit) {
    visit(id);
    for (int occasion = 0; occasion < occasions_limit; ++occasion) {
        const auto mark = id.rfind(occasion_mark);
        if (mark == std::string_view::npos) {
            return;
        }
        id = id.substr(0, mark);
        visit(id);
    }
}

/// What follows the last mark; all of it where there is none.
[[nodiscard]] constexpr std::string_view last_occasion(std::string_view id) {
    return id.substr(id.rfind(occasion_mark) + 1);
}

/// The try of this number to publish the row of a dead letter.
struct letter_retry {
    std::int64_t letter = 0;
    std::int64_t count = 0;

    friend bool operator==(const letter_retry&, const letter_retry&) = default;
};

/// Of an occasion `retry-<dead letter>-<count>`; nothing where it is another one.
[[nodiscard]] std::optional<letter_retry> parse_retry(std::string_view occasion);

}  // namespace walrelay
