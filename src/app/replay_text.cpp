#include "app/replay_text.hpp"

#include "app/text_table.hpp"
#include "core/figures.hpp"
#include "core/json_string.hpp"
#include "core/one_line.hpp"
#include "core/progress.hpp"
#include "tasks/replay/replay_scope.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace walrelay::app {
namespace {

using postgres::kept_replay;

/// `name      value`, one line.
void add_line(std::string& to, std::string_view name, const std::string& value) {
    to += fmt::format("  {:<12}{}\n", name, value);
}

void add_counts(std::string& to, std::string_view name,
                const std::map<std::string, relay::replay_count>& counts) {
    constexpr std::size_t shown_max = 20;
    std::vector<std::pair<std::string, relay::replay_count>> sorted(counts.begin(), counts.end());
    std::ranges::stable_sort(
        sorted, [](const auto& a, const auto& b) { return a.second.rows > b.second.rows; });
    for (std::size_t index = 0; index < std::min(sorted.size(), shown_max); ++index) {
        const auto& [what, count] = sorted[index];
        add_line(
            to, index == 0 ? name : "",
            fmt::format("{}  {}  {}", what.empty() ? "(none)" : one_line(what),
                        counted(count.rows, "row"), show_bytes(static_cast<double>(count.bytes))));
    }
    if (sorted.size() > shown_max) {
        add_line(to, "", fmt::format("and {} more", sorted.size() - shown_max));
    }
}

std::string range_of(const kept_replay& scope) {
    if (scope.reads_table()) {
        return "of rows as they are now in table " +
               (scope.tables.empty() ? "" : one_line(to_string(scope.tables.front())));
    }
    std::string text = "from LSN " + to_string(scope.from.commit);
    if (scope.since) {
        text += ", " + tasks::utc_text(*scope.since);
    }
    text += " to LSN " + to_string(scope.until);
    if (scope.before) {
        text += ", before " + tasks::utc_text(*scope.before);
    }
    return text + " (WAL kept by slot " + scope.kept_slot + ")";
}

void add_troubles(std::string& to, const replay_words& words) {
    const auto& plan = words.plan;
    if (plan.unmappable > 0) {
        const bool is_one = plan.unmappable == 1;
        const auto* const fate =
            words.to_stream.empty() ? (is_one ? " becomes a dead letter:" : " become dead letters:")
                                    : (is_one ? " is left out:" : " are left out:");
        add_line(to, "unmappable", counted(plan.unmappable, "row") + fate);
        for (const auto& each : plan.unmappable_named) {
            add_line(to, "", one_line(each));
        }
    }
    if (plan.too_large > 0) {
        add_line(to, "too large",
                 counted(plan.too_large, "row") + " above delivery.max_row_bytes " +
                     (plan.too_large == 1 ? "is" : "are") + " left out; fix: raise that limit");
    }
    for (const auto& each : plan.published_later) {
        add_line(to, "left out",
                 "rows from before this was published, if there are any: " + one_line(each));
    }
}

/// What the stream takes until it is at a limit; -1 without one.
std::int64_t room_of(std::int64_t limit, std::uint64_t taken) {
    const auto used = static_cast<std::int64_t>(taken);
    return limit < 0 ? -1 : std::max<std::int64_t>(limit - used, 0);
}

void add_room(std::string& to, const replay_words& words) {
    if (!words.fill) {
        return;
    }
    const auto& limits = words.fill->limits;
    const auto& plan = words.plan.all;
    const auto messages = room_of(limits.messages, words.fill->usage.messages);
    const auto bytes = room_of(limits.bytes, words.fill->usage.bytes);
    if (messages < 0 && bytes < 0) {
        add_line(to, "room", "stream " + words.stream + " has no limit");
        return;
    }
    const bool is_little = (messages >= 0 && static_cast<std::uint64_t>(messages) < plan.rows) ||
                           (bytes >= 0 && static_cast<std::uint64_t>(bytes) < plan.bytes);
    const auto and_then =
        limits.refuses_new
            ? "; it then refuses messages, live ones too, until there is room: raise "
              "the limit first (nats stream edit " +
                  words.stream + ")"
            : std::string("; it then drops its oldest messages to make room");
    add_line(
        to, "room",
        fmt::format(
            "stream {} has room for {}{}{} more{}", words.stream,
            messages < 0 ? "" : with_thousands(static_cast<std::uint64_t>(messages)) + " messages",
            messages < 0 || bytes < 0 ? "" : " and ",
            bytes < 0 ? "" : show_bytes(static_cast<double>(bytes)), is_little ? and_then : ""));
}

void add_target(std::string& to, const replay_words& words) {
    add_line(to, "into", "stream " + words.to_stream);
    if (words.there_up_to) {
        add_line(to, "there",
                 fmt::format("{}, up to the one at position {}; the replay goes on after it",
                             counted(words.rows_there, "row"), to_string(*words.there_up_to)));
    }
}

std::string json_of_counts(const std::map<std::string, relay::replay_count>& counts) {
    std::string made = "[";
    for (const auto& [name, count] : counts) {
        made += fmt::format("{}{{\"name\":{},\"rows\":{},\"bytes\":{}}}",
                            made.size() > 1 ? "," : "", json_string(name), count.rows, count.bytes);
    }
    return made + "]";
}

std::string json_or_null(const std::optional<wall_time>& time) {
    return time ? json_string(tasks::utc_text(*time)) : "null";
}

std::string json_of_names(const std::vector<std::string>& names) {
    std::string made = "[";
    for (const auto& each : names) {
        made += (made.size() > 1 ? "," : "") + json_string(each);
    }
    return made + "]";
}

std::vector<std::string> names_of(const std::vector<table_name>& tables) {
    std::vector<std::string> names;
    names.reserve(tables.size());
    for (const auto& each : tables) {
        names.push_back(to_string(each));
    }
    return names;
}

const tasks::open_replay* find_open(const kept_replay& one, const open_replays& open) {
    const auto found = std::ranges::find(open, one.number, &tasks::open_replay::number);
    return found == open.end() ? nullptr : &*found;
}

/// Nothing where it is not known.
std::optional<std::uint64_t> published_of(const kept_replay& one, const open_replays& open) {
    if (one.state == postgres::replay_state::running && one.rows_written == 0) {
        return 0;
    }
    const auto* const found = find_open(one, open);
    return found != nullptr ? found->stored : one.rows_stored;
}

std::string words_of_lost(const kept_replay& one, const open_replays& open) {
    const auto* const found = find_open(one, open);
    if (found == nullptr || found->lost == 0) {
        return "";
    }
    return fmt::format(
        "replay {0}: {1} that {2} written for the relay {3} in neither the stream nor the dead "
        "letters, and the slot will not bring {4}\n"
        "fix: walrelay replay resume {0} (publishes exactly {4})\n",
        one.number, counted(found->lost, "row"), found->lost == 1 ? "was" : "were",
        found->lost == 1 ? "is" : "are", found->lost == 1 ? "it" : "them");
}

std::string number_or(const std::optional<std::uint64_t>& number, const char* otherwise) {
    return number ? with_thousands(*number) : otherwise;
}

}  // namespace

std::string text_of_plan(const replay_words& words) {
    const auto& plan = words.plan;
    auto text = fmt::format("replay of slot {} {}\n", words.scope.slot, range_of(words.scope));
    if (plan.all.rows == 0) {
        add_line(text, "rows", "none");
        add_troubles(text, words);
        return text;
    }
    const auto in_transactions =
        words.scope.reads_table() ? "" : " in " + counted(plan.transactions, "transaction");
    add_line(text, "rows",
             fmt::format("{}{}, {} as messages", with_thousands(plan.all.rows), in_transactions,
                         show_bytes(static_cast<double>(plan.all.bytes))));
    if (words.scope.reads_table()) {
        const auto found = plan.all.rows + plan.too_large;
        if (found < words.scope.ids.size()) {
            add_line(text, "missing",
                     counted(words.scope.ids.size() - found, "id") + " not found in the table");
        }
    } else {
        add_line(text, "committed",
                 tasks::utc_text(*plan.first_commit) + " to " + tasks::utc_text(*plan.last_commit));
    }
    add_counts(text, "table", plan.by_table);
    add_counts(text, "subject", plan.by_subject);
    if (!words.scope.to_subject.empty()) {
        add_line(text, "goes to", words.scope.to_subject);
    }
    if (words.to_stream.empty()) {
        add_line(
            text, "WAL",
            "about " + show_bytes(static_cast<double>(plan.control_bytes)) + " will be written");
        add_room(text, words);
    } else {
        add_target(text, words);
    }
    add_troubles(text, words);
    if (words.share) {
        const auto& share = *words.share;
        add_line(
            text, "stream",
            fmt::format("{} still has {}; no replay is needed for that: nats consumer add {} NAME "
                        "--deliver {}",
                        words.stream, share.is_whole ? "all of it" : "the last part of it",
                        words.stream, share.sequence));
    }
    return text;
}

std::string json_of_plan(const replay_words& words) {
    const auto& plan = words.plan;
    return fmt::format(
        R"({{"replay":{},"plan":{{"rows":{},"bytes":{},"transactions":{},"wal_bytes":{},)"
        R"("unmappable":{},"too_large":{},"published_later":{},"first_commit":{},)"
        R"("last_commit":{},"tables":{},)"
        R"("subjects":{},"stream_sequence":{},"stream_has_all":{},"to_stream":{},)"
        R"("rows_there":{}}}}})",
        json_of_replay(words.scope), plan.all.rows, plan.all.bytes, plan.transactions,
        plan.control_bytes, plan.unmappable, plan.too_large, json_of_names(plan.published_later),
        json_or_null(plan.first_commit), json_or_null(plan.last_commit),
        json_of_counts(plan.by_table), json_of_counts(plan.by_subject),
        words.share ? std::to_string(words.share->sequence) : "null",
        words.share && words.share->is_whole,
        words.to_stream.empty() ? "null" : json_string(words.to_stream), words.rows_there);
}

std::string text_of_replays(const std::vector<kept_replay>& all, const open_replays& open) {
    std::string lost;
    std::vector<std::vector<postgres::cell>> rows;
    rows.reserve(all.size());
    for (const auto& each : all) {
        rows.push_back({std::to_string(each.number), to_string(each.state),
                        fmt::format("{} of {}", with_thousands(each.rows_written),
                                    with_thousands(each.rows_planned)),
                        number_or(published_of(each, open), "?"),
                        each.reads_table() ? "(table)" : each.kept_slot, each.started_at,
                        each.changed_at});
        lost += words_of_lost(each, open);
    }
    return text_table({{"number", "state", "rows", "published", "kept slot", "started", "changed"},
                       std::move(rows)}) +
           lost;
}

std::string text_of_replay(const kept_replay& one, const open_replays& open) {
    auto text = fmt::format("replay {} of slot {} {}\n", one.number, one.slot, range_of(one));
    add_line(text, "state", to_string(one.state));
    add_line(
        text, "rows",
        with_thousands(one.rows_written) + " of " + with_thousands(one.rows_planned) + " written");
    add_line(text, "published",
             number_or(published_of(one, open),
                       "not known yet: the relay has not read all of it, or "
                       "the stream cannot be read"));
    add_line(text, "at", one.at ? to_string(*one.at) : "nothing written yet");
    if (!one.tables.empty()) {
        add_line(text, "tables",
                 one_line(fmt::format("{}", fmt::join(names_of(one.tables), ", "))));
    }
    if (!one.subject.empty()) {
        add_line(text, "subject", one_line(one.subject));
    }
    if (!one.aggregates.empty()) {
        add_line(text, "aggregates", one_line(fmt::format("{}", fmt::join(one.aggregates, ", "))));
    }
    if (!one.to_subject.empty()) {
        add_line(text, "goes to", one_line(one.to_subject));
    }
    add_line(text, "started", one.started_at + " UTC");
    add_line(text, "changed", one.changed_at + " UTC");
    return text + words_of_lost(one, open);
}

std::string text_of_outcome(std::int64_t number, const tasks::replay_outcome& outcome) {
    auto text =
        fmt::format("replay {} is done: {} published\n", number, counted(outcome.published, "row"));
    if (outcome.dead_letters > 0) {
        text += fmt::format("{} of them became dead letters (walrelay dead-letter list)\n",
                            with_thousands(outcome.dead_letters));
    }
    if (outcome.again > 0) {
        text += fmt::format(
            "{} of them had been written before, and were in neither the stream nor the dead "
            "letters: they were written again\n",
            with_thousands(outcome.again));
    }
    if (outcome.gone > 0) {
        text += fmt::format("{} of the plan {} not published: not in the table any more\n",
                            counted(outcome.gone, "row"), outcome.gone == 1 ? "was" : "were");
    }
    if (outcome.untold > 0) {
        text += fmt::format(
            "{} of them are not in the stream: it has removed messages since the replay began, and "
            "which cannot be told\n",
            with_thousands(outcome.untold));
    }
    return text;
}

std::string json_of_replay(const kept_replay& one, const open_replays& open) {
    const auto* const found = find_open(one, open);
    const auto published = published_of(one, open);
    return fmt::format(
        R"({{"number":{},"slot":{},"state":{},"kept_slot":{},"from":{},"until":{},"since":{},)"
        R"("before":{},"tables":{},"subject":{},"aggregates":{},"to_subject":{},"position":{},)"
        R"("rows_planned":{},"rows_written":{},"rows_published":{},"rows_lost":{}}})",
        one.number, json_string(one.slot), json_string(to_string(one.state)),
        json_string(one.kept_slot), json_string(to_string(one.from.commit)),
        json_string(to_string(one.until)), json_or_null(one.since), json_or_null(one.before),
        json_of_names(names_of(one.tables)), json_string(one.subject),
        json_of_names(one.aggregates), json_string(one.to_subject),
        one.at ? json_string(to_string(*one.at)) : "null", one.rows_planned, one.rows_written,
        published ? std::to_string(*published) : "null", found != nullptr ? found->lost : 0);
}

}  // namespace walrelay::app
