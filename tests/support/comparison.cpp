// See comparison.hpp. Reads Walrelay-Position by itself, since a test that used the program's own
// reader would share its mistakes.
#include "support/comparison.hpp"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <unordered_map>

namespace walrelay::test {
namespace {

struct parsed_position {
    std::string history;
    /// 16 digits, so that the order of the texts is that of the numbers.
    std::string commit;
    std::uint64_t ordinal = 0;
};

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

std::optional<parsed_position> parse(std::string_view text) {
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

bool follows(const parsed_position& next, const std::optional<parsed_position>& previous) {
    if (previous && previous->history != next.history) {
        return false;
    }
    if (!previous || next.commit > previous->commit) {
        return next.ordinal == 0;
    }
    return next.commit == previous->commit && next.ordinal == previous->ordinal + 1;
}

/// Looks at the messages one after the other.
class checker {
public:
    explicit checker(const std::vector<std::string>& committed) : found_(committed.size(), false) {
        for (std::size_t index = 0; index < committed.size(); ++index) {
            place_.emplace(committed[index], index);
        }
    }

    void look_at(const seen_event& event) {
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

    comparison finish(const std::vector<std::string>& committed) {
        for (std::size_t index = 0; index < committed.size(); ++index) {
            if (!found_[index]) {
                result_.missing.push_back(committed[index]);
            }
        }
        return std::move(result_);
    }

private:
    void look_at_position(const seen_event& event) {
        auto position = parse(event.position);
        if (!position || !follows(*position, last_)) {
            result_.out_of_order.push_back(event.id + " at \"" + event.position + "\"");
        }
        if (position) {
            last_ = std::move(position);
        }
    }

    std::unordered_map<std::string, std::size_t> place_;
    std::vector<bool> found_;
    std::size_t highest_ = 0;
    std::optional<parsed_position> last_;
    comparison result_;
};

std::string list(const char* name, const std::vector<std::string>& ids) {
    constexpr std::size_t shown = 5;
    std::string text = std::to_string(ids.size()) + " " + name;
    for (std::size_t index = 0; index < std::min(shown, ids.size()); ++index) {
        text += "\n    " + ids[index];
    }
    return text + (ids.size() > shown ? "\n    ...\n" : "\n");
}

}  // namespace

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
    checker check(committed);
    for (const auto& event : stream) {
        check.look_at(event);
    }
    return check.finish(committed);
}

std::string to_string(const comparison& result) {
    return list("missing", result.missing) + list("twice", result.twice) +
           list("unexpected", result.unexpected) + list("out of order", result.out_of_order);
}

}  // namespace walrelay::test
