#include "tasks/verify/verify_report.hpp"

#include "core/json_string.hpp"

#include <fmt/format.h>

#include <iterator>

namespace walrelay::tasks {
namespace {

using audit::finding;
using audit::finding_kind;
using audit::findings;

std::string what_of(finding_kind kind, const audit::report& report) {
    switch (kind) {
        case finding_kind::missing:
            return "rows are in neither the stream nor the dead letters, and the slot will not "
                   "bring them";
        case finding_kind::undelivered:
            return "rows are not in the stream, and the slot may still bring them";
        case finding_kind::twice:
            return "messages have a Nats-Msg-Id that is in the stream already";
        case finding_kind::out_of_order:
            return "messages come after one with the same or a later Walrelay-Position";
        case finding_kind::foreign:
            return "messages were not written by walrelay, and no row has their Nats-Msg-Id";
        case finding_kind::orphaned:
            return fmt::format(
                "messages of a history that this database does not have: sequences {} to {}",
                report.first_orphan, report.last_orphan);
    }
    return {};
}

std::string remedy_for_undelivered(const verify_outcome& outcome, const verify_names& names) {
    const auto confirmed = outcome.slot ? to_string(outcome.slot->confirmed) : std::string("?");
    const auto rest = fmt::format(
        "the slot {} still has WAL from {} on, the rows were read at {}, so whether they are "
        "missing cannot be told yet: ",
        names.slot, confirmed, to_string(outcome.snapshot_end));
    return outcome.slot && outcome.slot->active
               ? rest +
                     "wait until the relay has caught up (with confirm_delay: that long), or "
                     "give verify a longer --wait, then verify again"
               : rest + "start walrelay run, then verify again";
}

std::string remedy_of(finding_kind kind, const verify_outcome& outcome, const verify_names& names) {
    switch (kind) {
        case finding_kind::missing:
            return "rows from before the slot: --since-slot leaves them out; rows that another "
                   "program has published under other ids, or elsewhere: --where leaves them out; "
                   "all others are in the table alone: keep them, and insert them again under new "
                   "ids, which publishes them after everything else";
        case finding_kind::undelivered:
            return remedy_for_undelivered(outcome, names);
        case finding_kind::twice:
            return fmt::format(
                "consumers that remember Nats-Msg-Id are not harmed, and nothing needs to be done; "
                "nats stream rmm {} SEQUENCE takes one away, which destroys it for every consumer",
                names.stream);
        case finding_kind::out_of_order:
            return "let consumers of these messages compare Walrelay-Position, and look in the log "
                   "for a second writer or a restored broker at that time";
        case finding_kind::foreign:
            return fmt::format(
                "messages of a poller from before walrelay: leave them, --since-slot leaves them "
                "out. Else allow only walrelay's account to publish on the stream's subjects; nats "
                "stream rmm {} SEQUENCE takes one away, which destroys it for every consumer: only "
                "once its writer has said that nobody needs it",
                names.stream);
        case finding_kind::orphaned:
            return "consumers may have acted on events whose rows the database lost in a failover "
                   "or a restore: compare what they did with these ids first (verify --json names "
                   "them), then insert again under new ids what must stay; take nothing out of "
                   "the stream before that is settled";
    }
    return {};
}

std::string line_of(const finding& one) {
    std::string line = "        ";
    const auto add = [&line](std::string_view label, const std::string& value) {
        if (!value.empty()) {
            fmt::format_to(std::back_inserter(line), " {}{},", label, value);
        }
    };
    add("table ", one.table);
    add("id ", one.id);
    add("sequence ", one.sequence == 0 ? "" : std::to_string(one.sequence));
    add("position ", one.position);
    add("", one.detail);
    line.back() = '\n';
    return line;
}

std::string text_of(finding_kind kind, const audit::report& report, const std::string& remedy) {
    const auto& found = report.of(kind);
    auto text = fmt::format("{:<12} {} {}\n", to_string(kind), found.count, what_of(kind, report));
    for (const auto& one : found.named) {
        text += line_of(one);
    }
    if (found.count > found.named.size() && !found.named.empty()) {
        text += fmt::format("         ... and {} more\n", found.count - found.named.size());
    }
    return text + "         " + remedy + "\n";
}

std::string notes_of(const audit::report& report) {
    std::string text;
    if (report.first_sequence > 1 || report.deleted_messages > 0) {
        text += fmt::format(
            "note         the stream begins at sequence {}, and after it {} messages were "
            "deleted: rows that only they held count as missing\n",
            report.first_sequence, report.deleted_messages);
    }
    return text;
}

/// What was taken into account, or left out, without being a finding.
std::string notes_on_others(const audit::report& report) {
    std::string text;
    const auto add = [&text](std::uint64_t count, std::string_view what) {
        if (count > 0) {
            fmt::format_to(std::back_inserter(text), "note         {} messages {}\n", count, what);
        }
    };
    add(report.earlier,
        "stand before the first one of this slot: they count for their rows, and are no findings");
    add(report.by_others,
        "with the Nats-Msg-Id of a row were not written by walrelay: their rows are in the stream "
        "all the same");
    add(report.not_judged,
        "were not written by walrelay and belong to none of the rows of --where: whether a row has "
        "their Nats-Msg-Id is not known");
    return text;
}

std::string note_on_history(const audit::report& report) {
    return report.history_known
               ? ""
               : "note         the role may not replicate, so messages of a history that this "
                 "database does not have (orphaned) cannot be told\n";
}

std::string notes_of(const verify_names& names) {
    std::string text;
    for (const auto& prefix : names.message_prefixes) {
        text += fmt::format(
            "note         logical messages with prefix {} are in no table: whether one is missing "
            "cannot be told\n",
            prefix);
    }
    return text;
}

std::string list_of(const std::vector<std::string>& texts) {
    std::string list;
    for (const auto& text : texts) {
        list += (list.empty() ? "" : ",") + json_string(text);
    }
    return list;
}

std::string json_of(const finding& one) {
    return fmt::format(R"({{"table":{},"id":{},"sequence":{},"position":{},"detail":{}}})",
                       json_string(one.table), json_string(one.id), one.sequence,
                       json_string(one.position), json_string(one.detail));
}

std::string json_of(finding_kind kind, const findings& found, const std::string& remedy) {
    std::string named;
    for (const auto& one : found.named) {
        named += (named.empty() ? "" : ",") + json_of(one);
    }
    return fmt::format(R"("{}":{{"count":{},"fix":{},"named":[{}]}})", to_string(kind), found.count,
                       json_string(found.count > 0 ? remedy : ""), named);
}

}  // namespace

std::string text_of(const verify_outcome& outcome, const verify_names& names) {
    const auto& report = outcome.report;
    auto text = fmt::format(
        "compared     {} rows with {} messages; {} rows dead-lettered, {} messages published again "
        "on purpose, {} messages whose row is no longer in the table\n",
        report.rows, report.messages, report.dead_lettered, report.republished, report.without_row);
    for (const auto kind : audit::all_finding_kinds) {
        if (report.of(kind).count > 0) {
            text += text_of(kind, report, remedy_of(kind, outcome, names));
        }
    }
    if (report.clean()) {
        return text +
               "ok           nothing is missing, twice, out of order, foreign or orphaned\n" +
               notes_on_others(report) + note_on_history(report) + notes_of(names);
    }
    return text + notes_of(report) + notes_on_others(report) + note_on_history(report) +
           notes_of(names);
}

std::string json_of(const verify_outcome& outcome, const verify_names& names) {
    const auto& report = outcome.report;
    std::string kinds;
    for (const auto kind : audit::all_finding_kinds) {
        kinds += (kinds.empty() ? "" : ",") +
                 json_of(kind, report.of(kind), remedy_of(kind, outcome, names));
    }
    return fmt::format(
        R"({{"clean":{},"rows":{},"messages":{},"dead_lettered":{},"republished":{},)"
        R"("without_row":{},"by_others":{},"not_judged":{},"earlier":{},)"
        R"("first_sequence":{},"deleted_messages":{},"history_known":{},)"
        R"("first_orphan":{},"last_orphan":{},"not_compared":[{}],)"
        R"("findings":{{{}}}}})"
        "\n",
        report.clean(), report.rows, report.messages, report.dead_lettered, report.republished,
        report.without_row, report.by_others, report.not_judged, report.earlier,
        report.first_sequence, report.deleted_messages, report.history_known, report.first_orphan,
        report.last_orphan, list_of(names.message_prefixes), kinds);
}

}  // namespace walrelay::tasks
