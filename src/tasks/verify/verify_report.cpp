#include "tasks/verify/verify_report.hpp"

#include "core/json_string.hpp"
#include "core/waiting_slot.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <iterator>
#include <string>
#include <string_view>

namespace walrelay::tasks {
namespace {

using audit::finding;
using audit::finding_kind;
using audit::findings;

/// Without commas: programs read it, too.
std::string of(std::uint64_t count, std::string_view noun) {
    return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string was_or_were(std::uint64_t messages) {
    return of(messages, "message") + (messages == 1 ? " was" : " were");
}

/// What a finding says of one row or message, and of several.
struct sentence {
    std::string_view of_one;
    std::string_view of_several;
};

sentence sentence_of(finding_kind kind) {
    switch (kind) {
        case finding_kind::missing:
            return {
                "row is in neither the stream nor the dead letters, and the slot will not "
                "bring it",
                "rows are in neither the stream nor the dead letters, and the slot will not "
                "bring them"};
        case finding_kind::undelivered:
            return {"row is not in the stream, and the slot may still bring it",
                    "rows are not in the stream, and the slot may still bring them"};
        case finding_kind::twice:
            return {"message has a Nats-Msg-Id that is in the stream already",
                    "messages have a Nats-Msg-Id that is in the stream already"};
        case finding_kind::out_of_order:
            return {"message comes after one with the same or a later Walrelay-Position",
                    "messages come after one with the same or a later Walrelay-Position"};
        case finding_kind::foreign:
            return {"message was not written by walrelay, and no row has its Nats-Msg-Id",
                    "messages were not written by walrelay, and no row has their Nats-Msg-Id"};
        case finding_kind::orphaned:
            return {"message is of a history that this database does not have",
                    "messages are of a history that this database does not have"};
    }
    return {};
}

std::string what_of(finding_kind kind, const audit::report& report) {
    const auto count = report.of(kind).count;
    const auto words = sentence_of(kind);
    auto text = fmt::format("{} {}", count, count == 1 ? words.of_one : words.of_several);
    if (kind == finding_kind::orphaned) {
        text += count == 1
                    ? fmt::format(": sequence {}", report.first_orphan)
                    : fmt::format(": sequences {} to {}", report.first_orphan, report.last_orphan);
    }
    return text;
}

std::string remedy_for_undelivered(const verify_outcome& outcome, const verify_names& names) {
    if (outcome.slot && outcome.slot->waits) {
        const auto waits = waits_under_another_name(names.slot, *outcome.slot->waits);
        return waits.what + ": " + waits.remedy + "; then verify again";
    }
    if (outcome.halt) {
        return fmt::format("slot {} is halted and still brings them: {}", names.slot,
                           outcome.report.of(finding_kind::missing).count > 0
                               ? "the command that publishes the missing ones publishes them, too"
                               : "walrelay resume, then walrelay run, which publishes them");
    }
    const auto confirmed = outcome.slot ? to_string(outcome.slot->confirmed) : std::string("?");
    const auto rest = fmt::format(
        "the slot {} still has WAL from {} on, the rows were read at {}, so whether they are "
        "missing cannot be told yet: ",
        names.slot, confirmed, to_string(outcome.snapshot_end));
    return outcome.slot && outcome.slot->active
               ? rest +
                     "wait until the relay has caught up (with confirm_delay: that long), or "
                     "give verify a longer --wait, then verify again"
               : rest +
                     (outcome.slot_not_read
                          ? "it could not be read (" + outcome.slot_not_read->what + "); "
                          : "") +
                     "start walrelay run, then verify again";
}

/// In this order: keep, heal, prove, and only then give up.
std::string remedy_for_missing(const verify_outcome& outcome) {
    const std::string heal =
        "walrelay resume --heal lets the next walrelay run publish them from the tables; then "
        "verify again";
    if (!outcome.halt) {
        return "rows from before the slot: --since-slot leaves them out; rows that another "
               "program has published under other ids, or elsewhere: --where leaves them out; "
               "all others are in the table alone: keep them; with every relay of the slot "
               "stopped, " +
               heal;
    }
    if (outcome.halt->decision == postgres::halt_decision::heal) {
        return "walrelay run, which publishes them from the tables, as walrelay resume --heal has "
               "asked for; then verify again; until then keep them in the tables";
    }
    const auto unsure = outcome.slot_not_read
                            ? "; the slot may still bring some of them, which could not be told "
                              "from the others: " +
                                  outcome.slot_not_read->what
                            : std::string();
    return "keep them in the tables; " + heal +
           ". Last of all, to go on without them: walrelay resume --give-up, which keeps a list" +
           unsure;
}

std::string remedy_of(finding_kind kind, const verify_outcome& outcome, const verify_names& names) {
    switch (kind) {
        case finding_kind::missing:
            return remedy_for_missing(outcome);
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
    auto text = fmt::format("{:<12} {}\n", to_string(kind), what_of(kind, report));
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
            "note         the stream begins at sequence {}, and after it {} deleted: rows that "
            "only "
            "they held count as missing\n",
            report.first_sequence, was_or_were(report.deleted_messages));
    }
    return text;
}

/// What was taken into account, or left out, without being a finding.
std::string notes_on_others(const audit::report& report) {
    std::string text;
    const auto add = [&text](std::uint64_t count, const sentence& what) {
        if (count > 0) {
            fmt::format_to(std::back_inserter(text), "note         {} {}\n", count,
                           count == 1 ? what.of_one : what.of_several);
        }
    };
    add(report.earlier,
        {"message stands before the first one of this slot: it counts for its row, and is no "
         "finding",
         "messages stand before the first one of this slot: they count for their rows, and are no "
         "findings"});
    add(report.by_others,
        {"message with the Nats-Msg-Id of a row was not written by walrelay: its row is in the "
         "stream all the same",
         "messages with the Nats-Msg-Id of a row were not written by walrelay: their rows are in "
         "the stream all the same"});
    add(report.not_judged,
        {"message was not written by walrelay and belongs to none of the rows of --where: whether "
         "a row has its Nats-Msg-Id is not known",
         "messages were not written by walrelay and belong to none of the rows of --where: whether "
         "a row has their Nats-Msg-Id is not known"});
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

std::string text_of_requests(const verify_outcome& outcome) {
    std::string text;
    if (!outcome.lost_retries.empty()) {
        const auto ids = fmt::format("{}", fmt::join(outcome.lost_retries, " "));
        text += fmt::format(
            "unpublished  {} retried, and the slot that would have brought {} was lost or moved: "
            "walrelay dead-letter retry {}\n",
            outcome.lost_retries.size() == 1
                ? "1 dead letter was"
                : of(outcome.lost_retries.size(), "dead letter") + " were",
            outcome.lost_retries.size() == 1 ? "it" : "them", ids);
    }
    for (const auto& each : outcome.lost_replays) {
        text += fmt::format(
            "unpublished  {} of replay {} {} written for the relay, and the slot that would have "
            "brought {} was lost or moved: walrelay replay resume {}\n",
            of(each.lost, "row"), each.number, each.lost == 1 ? "was" : "were",
            each.lost == 1 ? "it" : "them", each.number);
    }
    for (const auto& each : outcome.unread_replays) {
        text += fmt::format(
            "note         {} of replay {} {} written for the relay, which has not read all of that "
            "yet: whether {} published is not known; start walrelay run, then run this again\n",
            of(each.written, "row"), each.number, each.written == 1 ? "was" : "were",
            each.written == 1 ? "it is" : "they are");
    }
    return text;
}

std::string json_of_unread(const verify_outcome& outcome) {
    std::string numbers;
    for (const auto& each : outcome.unread_replays) {
        numbers += (numbers.empty() ? "" : ",") + std::to_string(each.number);
    }
    return numbers;
}

std::string json_of_requests(const verify_outcome& outcome) {
    std::string replays;
    for (const auto& each : outcome.lost_replays) {
        replays += fmt::format(R"({}{{"number":{},"rows":{}}})", replays.empty() ? "" : ",",
                               each.number, each.lost);
    }
    return fmt::format(R"("lost_retries":[{}],"lost_replays":[{}],"unread_replays":[{}])",
                       fmt::join(outcome.lost_retries, ","), replays, json_of_unread(outcome));
}

std::string note_on_halt(const verify_outcome& outcome, const verify_names& names) {
    return outcome.halt ? fmt::format("note         slot {} is halted since {}: {}\n", names.slot,
                                      outcome.halt->halted_at, outcome.halt->reason)
                        : "";
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
        "compared     {} with {}; {} dead-lettered, {} published again on purpose, {} whose row is "
        "no "
        "longer in the table\n",
        of(report.rows, "row"), of(report.messages, "message"), of(report.dead_lettered, "row"),
        of(report.republished, "message"), of(report.without_row, "message"));
    for (const auto kind : audit::all_finding_kinds) {
        if (report.of(kind).count > 0) {
            text += text_of(kind, report, remedy_of(kind, outcome, names));
        }
    }
    text += text_of_requests(outcome);
    if (outcome.clean()) {
        return text +
               "ok           nothing is missing, twice, out of order, foreign or orphaned\n" +
               notes_on_others(report) + note_on_history(report) + notes_of(names) +
               note_on_halt(outcome, names);
    }
    return text + note_on_halt(outcome, names) + notes_of(report) + notes_on_others(report) +
           note_on_history(report) + notes_of(names);
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
        R"("first_orphan":{},"last_orphan":{},"not_compared":[{}],{},)"
        R"("findings":{{{}}}}})"
        "\n",
        outcome.clean(), report.rows, report.messages, report.dead_lettered, report.republished,
        report.without_row, report.by_others, report.not_judged, report.earlier,
        report.first_sequence, report.deleted_messages, report.history_known, report.first_orphan,
        report.last_orphan, list_of(names.message_prefixes), json_of_requests(outcome), kinds);
}

}  // namespace walrelay::tasks
