#include "core/lineage.hpp"

#include <algorithm>
#include <charconv>

namespace walrelay {
namespace {

constexpr std::string_view blanks = " \t\r";

/// Takes the next word off `line`; empty where there is none.
std::string_view take_word(std::string_view& line) {
    line.remove_prefix(std::min(line.find_first_not_of(blanks), line.size()));
    const auto word = line.substr(0, line.find_first_of(blanks));
    line.remove_prefix(word.size());
    return word;
}

std::optional<std::uint32_t> parse_timeline(std::string_view text) {
    std::uint32_t number = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, failure] = std::from_chars(text.data(), end, number);
    if (failure != std::errc{} || stop != end || number == 0) {
        return std::nullopt;
    }
    return number;
}

std::optional<timeline_end> parse_end(std::string_view timeline, std::string_view at) {
    const auto number = parse_timeline(timeline);
    const auto switched = parse_lsn(at);
    if (!number || !switched) {
        return std::nullopt;
    }
    return timeline_end{*number, *switched};
}

std::string_view take_until(std::string_view& text, char separator) {
    const auto part = text.substr(0, text.find(separator));
    text.remove_prefix(std::min(part.size() + 1, text.size()));
    return part;
}

}  // namespace

std::optional<lsn> lineage::end_of(std::uint32_t timeline) const {
    const auto found =
        std::find_if(ancestors.begin(), ancestors.end(),
                     [&](const timeline_end& each) { return each.timeline == timeline; });
    return found == ancestors.end() ? std::nullopt : std::optional(found->at);
}

bool lineage::includes(std::uint32_t timeline) const {
    return timeline == origin.timeline || end_of(timeline).has_value();
}

std::uint32_t lineage::timeline_of(lsn place) const {
    const auto of =
        std::ranges::find_if(ancestors, [&](const timeline_end& each) { return place < each.at; });
    return of == ancestors.end() ? origin.timeline : of->timeline;
}

lineage lineage::as_of(std::uint32_t timeline) const {
    lineage then{{origin.system_identifier, timeline}, {}};
    for (const auto& each : ancestors) {
        if (each.timeline == timeline) {
            break;
        }
        then.ancestors.push_back(each);
    }
    return then;
}

bool lineage::shares(const position& where) const {
    if (where.origin.system_identifier != origin.system_identifier) {
        return false;
    }
    if (where.origin.timeline == origin.timeline) {
        return true;
    }
    const auto end = end_of(where.origin.timeline);
    return end && where.at.commit < *end;
}

bool lineage::has_left(const position& where) const {
    const bool is_known = where.origin.timeline > origin.timeline || !ancestors.empty();
    return where.origin.system_identifier == origin.system_identifier && is_known && !shares(where);
}

std::optional<std::vector<timeline_end>> parse_timeline_history(std::string_view content) {
    std::vector<timeline_end> ends;
    while (!content.empty()) {
        auto line = take_until(content, '\n');
        const auto timeline = take_word(line);
        if (timeline.empty() || timeline.starts_with('#')) {
            continue;
        }
        const auto end = parse_end(timeline, take_word(line));
        if (!end) {
            return std::nullopt;
        }
        ends.push_back(*end);
    }
    return ends;
}

std::string to_string(const std::vector<timeline_end>& ends) {
    std::string text;
    for (const auto& each : ends) {
        text +=
            (text.empty() ? "" : ",") + std::to_string(each.timeline) + "@" + to_string(each.at);
    }
    return text;
}

std::optional<std::vector<timeline_end>> parse_timeline_ends(std::string_view text) {
    std::vector<timeline_end> ends;
    while (!text.empty()) {
        auto part = take_until(text, ',');
        const auto timeline = take_until(part, '@');
        const auto end = parse_end(timeline, part);
        if (!end) {
            return std::nullopt;
        }
        ends.push_back(*end);
    }
    return ends;
}

}  // namespace walrelay
