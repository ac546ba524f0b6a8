#include "relay/intake/control_row.hpp"

#include "core/position.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <utility>

namespace walrelay::relay {
namespace {

error malformed(std::string_view what) {
    return {errc::row_unmappable, "a row of walrelay.control " + std::string(what),
            "let nobody write there but walrelay's commands and the relay itself: "
            "\\dp walrelay.control in psql shows who may"};
}

template <class Number>
std::optional<Number> number_of(const field& value) {
    Number number = 0;
    const auto text = value.value_or("");
    const auto* const end = text.data() + text.size();
    const auto read = std::from_chars(text.data(), end, number);
    return read.ec == std::errc{} && read.ptr == end ? std::optional(number) : std::nullopt;
}

result<kept_json_row> read_event(const control_row& row, std::uint64_t revision) {
    if (!row.source_schema || !row.source_table || !row.event) {
        return malformed("lacks its table, its numbers or its event");
    }
    std::string_view what;
    auto read =
        kept_json_row::parse(*row.source_schema, *row.source_table, *row.event, revision, what);
    if (!read) {
        return malformed(what);
    }
    return std::move(*read);
}

bool is_of_a_subject(char c) {
    return c > ' ' && c < '\x7f' && c != '*' && c != '>';
}

}  // namespace

control_row read_control(const row_insert& row) {
    control_row read;
    const std::array<std::pair<std::string_view, field*>, 13> wanted = {
        {{"kind", &read.kind},
         {"slot", &read.slot},
         {"dead_letter", &read.dead_letter},
         {"retry", &read.retry},
         {"source_schema", &read.source_schema},
         {"source_table", &read.source_table},
         {"event", &read.event},
         {"replay", &read.replay},
         {"position", &read.position},
         {"committed_at", &read.committed_at},
         {"subject", &read.subject},
         {"transaction", &read.transaction},
         {"proof", &read.proof}}};
    for (std::size_t index = 0; index < row.fields.size(); ++index) {
        for (const auto& [name, into] : wanted) {
            if (row.table->columns[index].name == name) {
                *into = row.fields[index];
            }
        }
    }
    return read;
}

std::optional<letter_retry> retry_of(const control_row& row) {
    const auto letter = number_of<std::int64_t>(row.dead_letter);
    const auto count = number_of<std::int64_t>(row.retry);
    return letter && count && *letter > 0 && *count > 0
               ? std::optional(letter_retry{*letter, *count})
               : std::nullopt;
}

result<retry_request> retry_request::parse(const control_row& row, std::uint64_t revision) {
    const auto which = retry_of(row);
    if (!which) {
        return malformed("lacks its table, its numbers or its event");
    }
    auto kept = read_event(row, revision);
    if (!kept) {
        return kept.error();
    }
    return retry_request(std::move(*kept), "retry-" + std::to_string(which->letter) + "-" +
                                               std::to_string(which->count));
}

bool is_replay_subject(std::string_view text) {
    if (text.empty() || text.front() == '$' || text.starts_with("_INBOX") ||
        !std::all_of(text.begin(), text.end(), is_of_a_subject)) {
        return false;
    }
    return text.front() != '.' && text.back() != '.' && text.find("..") == std::string_view::npos;
}

std::string replayed_subject(std::string_view pattern, std::string_view subject) {
    constexpr std::string_view mark = "{subject}";
    std::string made;
    for (auto found = pattern.find(mark); found != std::string_view::npos;
         found = pattern.find(mark)) {
        made.append(pattern.substr(0, found)).append(subject);
        pattern.remove_prefix(found + mark.size());
    }
    return made.append(pattern);
}

replay_request::replay_request(kept_json_row row, replay_mark mark)
    : row_(std::move(row)),
      mark_(std::move(mark)),
      occasion_("replay-" + std::to_string(mark_.number)) {
    if (!mark_.position.empty()) {
        occasion_ += '-' + mark_.position;
    }
}

result<replay_request> replay_request::parse(const control_row& row, std::uint64_t revision) {
    const auto number = number_of<std::uint64_t>(row.replay);
    if (!number) {
        return malformed("lacks its table, its numbers or its event");
    }
    replay_mark mark{*number};
    if (row.position) {
        const auto where = parse_position(*row.position);
        if (!where) {
            return malformed("has a position that is none");
        }
        mark.position = to_string(*where);
    }
    if (row.committed_at) {
        const auto since_epoch = number_of<std::int64_t>(row.committed_at);
        if (!since_epoch) {
            return malformed("has a time that is none");
        }
        mark.committed_at = wall_time(std::chrono::microseconds(*since_epoch));
    }
    if (row.subject) {
        if (!is_replay_subject(*row.subject)) {
            return malformed("has a subject that no message may have");
        }
        mark.subject = std::string(*row.subject);
    }
    auto kept = read_event(row, revision);
    if (!kept) {
        return kept.error();
    }
    return replay_request(std::move(*kept), std::move(mark));
}

}  // namespace walrelay::relay
