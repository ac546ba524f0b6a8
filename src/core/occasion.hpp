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

/// On which occasion a row was published again, by what its message id ends with:
/// `retry-<dead letter>-<count>`, `republish-<row LSN>-<index>` (after a promotion followed by
/// `-<timeline>`), `replay-<number>` with or without `-<position>`. Other text is part of an id
/// that has the mark in it.
enum class occasion_kind { none, retry, republication, replay };
[[nodiscard]] occasion_kind occasion_of(std::string_view text);

/// The id without its last occasion; nothing where it ends with none.
[[nodiscard]] std::optional<std::string_view> without_last_occasion(std::string_view id);

/// Calls `visit` with what is left of the id without its last occasion, without its last two, and
/// so on: one of these, or the id itself, is that of the row.
template <class Visit>
void for_each_republished_id(std::string_view id, const Visit& visit) {
    for (int occasion = 0; occasion < occasions_limit; ++occasion) {
        const auto shorter = without_last_occasion(id);
        if (!shorter) {
            return;
        }
        id = *shorter;
        visit(id);
    }
}

/// The same, with the id itself first.
template <class Visit>
void for_each_row_id(std::string_view id, const Visit& visit) {
    visit(id);
    for_each_republished_id(id, visit);
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
