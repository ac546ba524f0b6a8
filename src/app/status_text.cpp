#include "app/status_text.hpp"

#include "core/figures.hpp"
#include "core/one_line.hpp"
#include "core/progress.hpp"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <utility>

namespace walrelay::app {
namespace {

using simdjson::dom::element;

constexpr double schema_known = 1;
constexpr std::size_t text_bytes_max = 500;

/// What answers need not be a relay: anything may be missing.
std::optional<double> number(const element& from, std::string_view pointer) {
    double value = 0;
    return from.at_pointer(pointer).get(value) == simdjson::SUCCESS ? std::optional(value)
                                                                    : std::nullopt;
}

std::string text(const element& from, std::string_view pointer) {
    std::string_view value;
    return from.at_pointer(pointer).get(value) == simdjson::SUCCESS
               ? one_line(value, text_bytes_max)
               : "";
}

bool flag(const element& from, std::string_view pointer) {
    bool value = false;
    return from.at_pointer(pointer).get(value) == simdjson::SUCCESS && value;
}

std::string bytes(const element& from, std::string_view pointer) {
    const auto value = number(from, pointer);
    return value ? show_bytes(*value) : "?";
}

std::string seconds(const element& from, std::string_view pointer) {
    const auto value = number(from, pointer);
    return value ? show_seconds(*value) : "?";
}

std::string count(const element& from, std::string_view pointer) {
    const auto value = number(from, pointer);
    return value ? fmt::format("{:.0f}", *value) : "?";
}

/// "1 row", "2 rows"; "? rows" where it is not known.
std::string count(const element& from, std::string_view pointer, std::string_view noun) {
    constexpr double one = 1;
    return count(from, pointer) + ' ' + std::string(noun) +
           (number(from, pointer) == one ? "" : "s");
}

void append(std::string& to, std::string_view name, const std::string& what) {
    to += fmt::format("{:<13}{}\n", name, what);
}

std::string holder_text(const element& of) {
    const auto process = "process " + count(of, "/holder/facts/process") + " of PostgreSQL";
    if (!number(of, "/holder/facts/connected_for_seconds")) {
        return process + " (more is shown to roles with pg_read_all_stats)";
    }
    const auto address = text(of, "/holder/facts/address");
    return fmt::format("{} at {} ({}), connected {} ago, heard {} ago",
                       text(of, "/holder/facts/application"),
                       address.empty() ? "the server's machine" : address, process,
                       seconds(of, "/holder/facts/connected_for_seconds"),
                       seconds(of, "/holder/facts/heard_ago_seconds"));
}

void append_state(std::string& to, const element& of) {
    auto line = text(of, "/state");
    std::ranges::replace(line, '_', ' ');
    if (const auto since = number(of, "/since")) {
        line += " for " + show_seconds(number(of, "/now").value_or(*since) - *since);
    }
    append(to, "state", line + (flag(of, "/leader") ? ", holds the slot" : ""));
    if (number(of, "/holder/facts/process")) {
        append(to, "held by", holder_text(of));
    }
    if (const auto reason = text(of, "/reason"); !reason.empty()) {
        append(to, "reason", reason);
    }
    if (const auto fix = text(of, "/fix"); !fix.empty()) {
        append(to, "fix", fix);
    }
}

/// What the alerts fire for, with a command that looks.
void append_attention(std::string& to, const element& of) {
    simdjson::dom::array all;
    if (of.at_pointer("/attention").get(all) != simdjson::SUCCESS) {
        return;
    }
    std::string title = "attention";
    for (const auto each : all) {
        append(to, std::exchange(title, ""),
               text(each, "/what") + "; look: " + text(each, "/command"));
    }
}

/// Why a server has not said more.
void append_trouble(std::string& to, const element& of, std::string_view pointer) {
    if (const auto trouble = text(of, pointer); !trouble.empty()) {
        append(to, "", trouble);
    }
}

std::string pace_of_danger(const element& of) {
    const auto left = number(of, "/slot/danger_in_seconds");
    return left ? " (at this pace in " + show_seconds(*left) + ")" : "";
}

void append_facts(std::string& to, const element& of) {
    append(to, "slot", text(of, "/slot/name"));
    if (number(of, "/slot/facts/lag_bytes")) {
        const bool is_limited = number(of, "/slot/facts/safe_wal_bytes").has_value();
        append(
            to, "",
            fmt::format("lag {}, holds {} of WAL, {}{}, asked {} ago",
                        bytes(of, "/slot/facts/lag_bytes"), bytes(of, "/slot/facts/retained_bytes"),
                        text(of, "/slot/facts/wal_status"),
                        is_limited ? ", " + bytes(of, "/slot/facts/safe_wal_bytes") +
                                         " until it can be lost" + pace_of_danger(of)
                                   : "",
                        seconds(of, "/slot/age_seconds")));
    }
    append_trouble(to, of, "/slot/trouble");
    append(to, "stream", text(of, "/stream/name"));
    if (number(of, "/stream/facts/messages")) {
        append(to, "",
               fmt::format(
                   "{}, {}, last sequence {}, asked {} ago",
                   count(of, "/stream/facts/messages", "message"), bytes(of, "/stream/facts/bytes"),
                   count(of, "/stream/facts/last_sequence"), seconds(of, "/stream/age_seconds")));
    }
    append_trouble(to, of, "/stream/trouble");
    if (number(of, "/dead_letters/facts/row")) {
        append(to, "dead letters",
               fmt::format("{} of rows that no message can be made of, {} that the broker refuses "
                           "(open ones)",
                           count(of, "/dead_letters/facts/row"),
                           count(of, "/dead_letters/facts/broker")));
    }
}

/// Those that are more than notes.
void append_findings(std::string& to, const element& of) {
    simdjson::dom::array all;
    if (of.at_pointer("/findings/facts").get(all) != simdjson::SUCCESS) {
        return;
    }
    std::string title = "found";
    for (const auto each : all) {
        if (text(each, "/severity") != "note") {
            append(to, std::exchange(title, ""),
                   fmt::format("{}: {}; fix: {}", text(each, "/severity"), text(each, "/what"),
                               text(each, "/fix")));
        }
    }
}

/// Of the tables that are cleaned.
void append_cleanup(std::string& to, const element& of) {
    simdjson::dom::array tables;
    if (of.at_pointer("/tables").get(tables) != simdjson::SUCCESS) {
        return;
    }
    constexpr double soon_enough_seconds = 60;
    std::string_view title = "clean-up";
    for (const auto& table : tables) {
        if (const auto lag = number(table, "/cleanup_lag_seconds")) {
            append(to, std::exchange(title, ""),
                   fmt::format(
                       "{}: {} deleted, {}", text(table, "/name"), count(table, "/deleted", "row"),
                       *lag < soon_enough_seconds ? "on time" : show_seconds(*lag) + " late"));
        }
    }
}

/// Those that are under way, or were broken off.
void append_replays(std::string& to, const element& of) {
    simdjson::dom::array all;
    if (of.at_pointer("/kept_positions/facts/replays").get(all) != simdjson::SUCCESS) {
        return;
    }
    std::string title = "replay";
    for (const auto each : all) {
        append(to, std::exchange(title, ""),
               fmt::format("number {0}: {1} of {2} written (walrelay replay show {0}, walrelay "
                           "replay resume {0} or walrelay replay cancel {0})",
                           count(each, "/number"), count(each, "/rows_written"),
                           count(each, "/rows_planned", "row")));
    }
}

/// The bookmarks as a number, the trail by how far it reaches back.
void append_kept(std::string& to, const element& of) {
    simdjson::dom::array all;
    if (of.at_pointer("/kept_positions/facts/positions").get(all) != simdjson::SUCCESS) {
        append_trouble(to, of, "/kept_positions/trouble");
        return;
    }
    const auto now = number(of, "/kept_positions/facts/server_time").value_or(0);
    std::size_t bookmarks = 0;
    std::size_t lost = 0;
    std::string trail = flag(of, "/kept_positions/keeps_trail") ? "no trail yet" : "no trail";
    for (const auto each : all) {
        const bool is_kept = text(each, "/state") == "kept";
        const auto from = number(each, "/covers_from");
        if (text(each, "/kind") == "bookmark") {
            ++(is_kept ? bookmarks : lost);
        } else if (!is_kept) {
            trail = "trail " + text(each, "/state");
        } else {
            trail = from ? "trail of " + show_seconds(now - *from) : "trail";
        }
    }
    append(to, "kept",
           fmt::format("{}, {}{}, holding {}", trail, counted(bookmarks, "bookmark"),
                       lost > 0 ? fmt::format(" and {} lost", lost) : "",
                       bytes(of, "/kept_positions/facts/held_bytes")));
    append_replays(to, of);
}

void append_flow(std::string& to, const element& of) {
    append(to, "lag", number(of, "/lag_seconds") ? seconds(of, "/lag_seconds") : "not known");
    append(to, "window",
           fmt::format("{} of {}{}", count(of, "/window/messages"),
                       count(of, "/window/limit_messages", "message"),
                       flag(of, "/window/reading_paused") ? "; not reading" : ""));
    const auto last = number(of, "/last_stored");
    append(to, "stored",
           count(of, "/totals/messages_stored", "message") + " since the start" +
               (last ? ", the last " + show_seconds(number(of, "/now").value_or(*last) - *last) +
                           " ago"
                     : ""));
    append(to, "last minute",
           fmt::format("{:.1f} rows/s, p50 {}, p99 {}",
                       number(of, "/last_minute/rows_per_second").value_or(0),
                       seconds(of, "/last_minute/p50_seconds"),
                       seconds(of, "/last_minute/p99_seconds")));
    if (number(of, "/last_minute/slowest/seconds")) {
        append(to, "slowest",
               fmt::format("{}: id {}, subject {}, position {}",
                           seconds(of, "/last_minute/slowest/seconds"),
                           text(of, "/last_minute/slowest/id"),
                           text(of, "/last_minute/slowest/subject"),
                           text(of, "/last_minute/slowest/position")));
        if (const auto trace = text(of, "/last_minute/slowest/traceparent"); !trace.empty()) {
            append(to, "", "traceparent " + trace);
        }
    }
    append(to, "write-backs",
           count(of, "/write_back_pending_rows", "row") +
               (number(of, "/write_back_pending_rows") == 1 ? " waits" : " wait"));
    append_findings(to, of);
    append_cleanup(to, of);
}

void append_last_trouble(std::string& to, const element& of) {
    if (const auto time = number(of, "/last_trouble/time")) {
        append(to, "last trouble",
               show_seconds(number(of, "/now").value_or(*time) - *time) +
                   " ago: " + text(of, "/last_trouble/text"));
    }
}

}  // namespace

std::optional<shown_status> show_status(std::string_view json) {
    simdjson::dom::parser parser;
    element of;
    if (parser.parse(json.data(), json.size()).get(of) != simdjson::SUCCESS ||
        number(of, "/schema") != schema_known || text(of, "/state").empty()) {
        return std::nullopt;
    }
    shown_status shown{"", flag(of, "/ready")};
    append_state(shown.text, of);
    append_attention(shown.text, of);
    append_facts(shown.text, of);
    append_kept(shown.text, of);
    if (number(of, "/window/messages")) {
        append_flow(shown.text, of);
    }
    append_last_trouble(shown.text, of);
    return shown;
}

}  // namespace walrelay::app
