#include "tasks/replay/left_out.hpp"

#include "relay/intake/control_row.hpp"

namespace walrelay::tasks {

void left_out_rows::add(const position& where, const std::string& why) {
    constexpr std::size_t named_max = 10;
    ++count;
    if (named.size() < named_max) {
        named.push_back(to_string(where) + ": " + why);
    }
}

void move_subject(message& content, const std::string& to_subject) {
    if (!to_subject.empty()) {
        content.subject = relay::replayed_subject(to_subject, content.subject);
    }
}

std::optional<std::string> why_left_out(const relay::replayed_row& row,
                                        const relay::size_limits& limits,
                                        const std::string& to_subject) {
    if (row.unmappable) {
        return row.unmappable->what;
    }
    auto content = *row.content;
    content.where = row.where;
    move_subject(content, to_subject);
    const auto fits = limits.check(content);
    return fits ? std::nullopt : std::optional(fits.error().what);
}

}  // namespace walrelay::tasks
