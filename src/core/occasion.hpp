// The ids of messages that publish a row again on purpose: `<id>;<occasion>`. Pure.
#pragma once

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

}  // namespace walrelay
