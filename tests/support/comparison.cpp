// See comparison.hpp. Reads Walrelay-Position by itself, since a test that used the program's own
// reader would share its mistakes.
#include "support/comparison.hpp"

#include <algorithm>
#include <charconv>

namespace walrelay::test {
namespace {

std::optional<std::string_view> take_until_dot(std::string_view& text) {
    const auto dot = text.find('.');
    if (dot == std::string_view::npos || dot == 0) {
        return std::nullopt;
    }
    const auto part = text.substr(0, dot);
    text.remove_prefix(dot + 1);
    return part;
}

bool consists_of(std::string_view text, std::string_view letters) {
    return !text.empty() && text.find_first_not_of(letters) == std::string_view::npos;
}

std::string list(const char* name, const std::vector<std::string>& ids) {
    constexpr std::size_t shown = 5;
    std::string text = std::to_string(ids.size()) + " " + name;
    for (std::size_t index = 0; index < std::min(shown, ids.size()); ++index) {
        text += "\n    " + ids[index];
    }
    return text + (ids.size() > shown ? "\n    ...\n" : "\n");
}

}  // namespace

std::optional<running_comparison::parsed_position> running_comparison::parse(
    std::string_view text) {
    constexpr std::string_view digits = "0123456789";
    constexpr std::size_t commit_digits = 16;
    const auto system = take_until_dot(text);
    const auto timeline = system ? take_until_dot(text) : std::nullopt;
    const auto commit = timeline ? take_until_dot(text) : std::nullopt;
    if (!commit || !consists_of(*system, digits) || !consists_of(*timeline, digits) ||
        commit->size() != commit_digits || !consists_of(*commit, "0123456789ABCDEF") ||
        !consists_of(text, digits)) {
        return std::nullopt;
    }
    parsed_position result{.history = std::string(*system) + "." + std::string(*timeline),
                           .commit = std::string(*commit)};
    std::from_chars(text.data(), text.data() + text.size(), result.ordinal);
    return result;
}

bool running_comparison::follows(const parsed_position& next,
                                 const std::optional<parsed_position>& previous) const {
    if (previous && previous->history != next.history) {
        return false;
    }
    const bool gaps = kind_ == ordinals::rising;
    if (!previous || next.commit > previous->commit) {
        return gaps || next.ordinal == 0;
    }
    return next.commit == previous->commit &&
           (gaps ? next.ordinal > previous->ordinal : next.ordinal == previous->ordinal + 1);
}

running_comparison::running_comparison(const std::vector<std::string>& committed, ordinals kind)
    : committed_(committed), kind_(kind), found_(committed.size(), false) {
    place_.reserve(committed.size());
    for (std::size_t index = 0; index < committed.size(); ++index) {
        place_.emplace(committed[index], index);
    }
}

void running_comparison::look_at(const seen_event& event) {
    const auto place = place_.find(event.id);
    if (place == place_.end()) {
        result_.unexpected.push_back(event.id);
    } else if (found_[place->second]) {
        result_.twice.push_back(event.id);
    } else {
        found_[place->second] = true;
        if (place->second < highest_) {
            result_.out_of_order.push_back(event.id);
        }
        highest_ = std::max(highest_, place->second);
    }
    look_at_position(event);
}

comparison running_comparison::finish() {
    for (std::size_t index = 0; index < committed_.size(); ++index) {
        if (!found_[index]) {
            result_.missing.push_back(committed_[index]);
        }
    }
    return std::move(result_);
}

void running_comparison::look_at_position(const seen_event& event) {
    auto position = parse(event.position);
    if (!position || !follows(*position, last_)) {
        result_.out_of_order.push_back(event.id + " at \"" + event.position + "\"");
    }
    if (position) {
        last_ = std::move(position);
    }
}

seen_event seen(const stored_message& message) {
    return {.sequence = message.sequence,
            .id = message.header("Nats-Msg-Id"),
            .position = message.header("Walrelay-Position")};
}

bool comparison::flawless() const {
    return missing.empty() && twice.empty() && unexpected.empty() && out_of_order.empty();
}

comparison compare(const std::vector<std::string>& committed,
                   const std::vector<seen_event>& stream) {
    running_comparison check(committed);
    for (const auto& event : stream) {
        check.look_at(event);
    }
    return check.finish();
}

std::string to_string(const comparison& result) {
    return list("missing", result.missing) + list("twice", result.twice) +
           list("unexpected", result.unexpected) + list("out of order", result.out_of_order);
}

}  // namespace walrelay::test
