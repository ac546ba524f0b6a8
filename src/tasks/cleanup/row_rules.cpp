#include "tasks/cleanup/row_rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

namespace walrelay::tasks {
namespace {

constexpr std::string_view rules_word = "rules=";

template <class Number>
bool read_hexadecimal(std::string_view text, Number& into) {
    constexpr int sixteen = 16;
    const auto* const end = text.data() + text.size();
    const auto [last, failed] = std::from_chars(text.data(), end, into, sixteen);
    return failed == std::errc() && last == end && !text.empty();
}

}  // namespace

std::string to_string(const row_rules& rules) {
    return fmt::format("{}{}.{:x}.{:x}.{:x}", rules_word, rules.fingerprint, rules.table,
                       rules.system_identifier, rules.since.value);
}

std::optional<row_rules> parse_row_rules(std::string_view text) {
    if (!text.starts_with(rules_word)) {
        return std::nullopt;
    }
    text.remove_prefix(rules_word.size());
    std::array<std::string_view, 4> parts;
    for (std::size_t index = 0; index < parts.size(); ++index) {
        const auto end = text.find('.');
        const bool is_last = index + 1 == parts.size();
        if (is_last != (end == std::string_view::npos)) {
            return std::nullopt;
        }
        parts[index] = text.substr(0, end);
        text.remove_prefix(is_last ? text.size() : end + 1);
    }
    row_rules read;
    read.fingerprint = parts[0];
    const bool is_whole = !parts[0].empty() && read_hexadecimal(parts[1], read.table) &&
                          read_hexadecimal(parts[2], read.system_identifier) &&
                          read_hexadecimal(parts[3], read.since.value);
    return is_whole ? std::optional(std::move(read)) : std::nullopt;
}

row_rules rules_after(row_rules now, const std::optional<std::string>& kept, marked_ids marked,
                      lsn wal_end) {
    if (kept && kept->empty()) {
        // Of a version that kept none. What the mark says from the second walk on it says now.
        now.since = marked.is_kept ? std::min(marked.since, wal_end) : lsn{};
        return now;
    }
    const auto before = kept ? parse_row_rules(*kept) : std::nullopt;
    const bool is_new = !kept || (before && before->system_identifier != now.system_identifier);
    if (is_new) {
        // Of another server its messages delete nothing anyway, and the mark may still have an LSN
        // of its.
        now.since = std::min(marked.since, wal_end);
    } else if (!before) {
        now.since = wal_end;  // somebody has written over it
    } else if (before->table != now.table || before->fingerprint != now.fingerprint) {
        now.since = std::max(before->since, wal_end);
    } else if (marked.is_kept) {
        // Others can have been in use, and been taken back, while nobody wrote down here.
        now.since = std::max(before->since, std::min(marked.since, wal_end));
    } else {
        now.since = before->since;
    }
    return now;
}

bool came_before(const row_rules& rules, const commit_position& where) {
    // Rows of a snapshot lie just in front of where the slot begins.
    const auto at = is_of_a_snapshot(where) ? where.commit.value + 1 : where.commit.value;
    return at < rules.since.value;
}

}  // namespace walrelay::tasks
