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

constexpr std::string_view digits = "0123456789";

bool consists_of(std::string_view text, std::string_view letters) {
    return !text.empty() && text.find_first_not_of(letters) == std::string_view::npos;
}

bool is_lsn(std::string_view text) {
    constexpr std::size_t lsn_digits = 16;
    return text.size() == lsn_digits && consists_of(text, "0123456789ABCDEF");
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

// `<system>.<timeline>.<commit>.<row>.<index>`, or, from before there were row LSNs,
// `<system>.<timeline>.<commit>.<ordinal in the transaction>`.
std::optional<running_comparison::parsed_position> running_comparison::parse(
    std::string_view text) {
    const auto system = take_until_dot(text);
    const auto timeline = system ? take_until_dot(text) : std::nullopt;
    const auto commit = timeline ? take_until_dot(text) : std::nullopt;
    const bool has_row = text.find('.') != std::string_view::npos;
    const auto row = has_row ? take_until_dot(text) : std::string_view();
    if (!commit || !row || !consists_of(*system, digits) || !consists_of(*timeline, digits) ||
        !is_lsn(*commit) || (has_row && !is_lsn(*row)) || !consists_of(text, digits)) {
        return std::nullopt;
    }
    parsed_position result{
        .system = std::string(*system), .commit = std::string(*commit), .row = std::string(*row)};
    std::from_chars(timeline->data(), timeline->data() + timeline->size(), result.timeline);
    std::from_chars(text.data(), text.data() + text.size(), result.index);
    return result;
}

bool running_comparison::follows_in_transaction(const parsed_position& next,
                                                const parsed_position& previous) const {
    if (next.row.empty() != previous.row.empty()) {
        return previous.row.empty();  // the relay was upgraded in between
    }
    if (next.row != previous.row) {
        return next.row > previous.row && next.index == 0;
    }
    const bool gaps = kind_ == ordinals::rising;
    return gaps ? next.index > previous.index : next.index == previous.index + 1;
}

bool running_comparison::follows(const parsed_position& next,
                                 const std::optional<parsed_position>& previous) const {
    if (previous && previous->system != next.system) {
        return false;
    }
    if (previous && previous->timeline != next.timeline) {
        return next.timeline > previous->timeline;  // the LSNs of two branches say nothing
    }
    if (!previous || next.commit > previous->commit) {
        return kind_ == ordinals::rising || next.index == 0;
    }
    return next.commit == previous->commit && follows_in_transaction(next, *previous);
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
