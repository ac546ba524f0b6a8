// What is wrong with a stream, and the command that mends it.

#include "outbox/table_mapper.hpp"
#include "relay/findings_list.hpp"
#include "relay/preflight.hpp"
#include "relay/preflight_transport.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace walrelay::relay {
namespace {

std::string join(const std::vector<std::string>& parts) {
    std::string joined;
    for (const auto& part : parts) {
        joined += (joined.empty() ? "" : ",") + part;
    }
    return joined;
}

void look_at_subjects(const expectations& wanted, const stream_facts& stream,
                      findings_list& found) {
    for (const auto& table : wanted.tables) {
        const auto mapper = outbox::table_mapper::make(table);
        if (!mapper) {
            continue;  // a finding of the PostgreSQL side
        }
        const auto pattern = mapper->subject_pattern();
        const bool covered =
            std::any_of(stream.subjects.begin(), stream.subjects.end(),
                        [&](const std::string& each) { return subject_covers(each, pattern); });
        if (covered) {
            continue;
        }
        // The server refuses a stream whose subjects overlap.
        std::vector<std::string> more;
        std::copy_if(stream.subjects.begin(), stream.subjects.end(), std::back_inserter(more),
                     [&](const std::string& each) { return !subject_covers(pattern, each); });
        more.push_back(pattern);
        found.error("stream " + wanted.stream + " (subjects " + join(stream.subjects) +
                        ") does not cover the subjects of " + to_string(table.table) + " (" +
                        pattern + ")",
                    "nats stream edit " + wanted.stream + " --subjects=\"" + join(more) + "\"");
    }
}

/// What the stream forgets before it is due is never deleted.
void look_at_clean_up(const expectations& wanted, const stream_facts& stream,
                      findings_list& found) {
    for (const auto& table : wanted.tables) {
        if (stream.max_age.count() > 0 && table.delete_after &&
            *table.delete_after >= stream.max_age) {
            const auto name = to_string(table.table);
            found.warning("stream " + wanted.stream +
                              " deletes messages (max_age) before the rows of " + name +
                              " are due (outbox.delete_after): these rows are never deleted",
                          "make delete_after of " + name +
                              " shorter, or max_age longer: nats stream "
                              "edit " +
                              wanted.stream + " --max-age=...");
        }
    }
}

void look_at_policies(const expectations& wanted, const stream_facts& stream,
                      findings_list& found) {
    const auto replace = "nats stream rm " + wanted.stream +
                         "; then walrelay init; or name another stream: nats.stream";
    if (stream.retention != stream_retention::limits) {
        found.error(
            "stream " + wanted.stream + " has " +
                (stream.retention == stream_retention::interest ? "interest" : "workqueue") +
                " retention: consumed messages vanish, and with them the place to go on "
                "from; walrelay needs limits",
            replace);
    }
    if (stream.sealed) {
        found.error("stream " + wanted.stream + " is sealed", replace);
    }
    if (stream.no_ack) {
        found.error("stream " + wanted.stream + " does not ack (no_ack)",
                    "nats stream edit " + wanted.stream + " --ack");
    }
    if (stream.mirror_or_sourced) {
        found.error("stream " + wanted.stream +
                        " is a mirror or has sources, so walrelay is not "
                        "its only writer",
                    "name a stream of its own: nats.stream");
    }
    if (!stream.file_storage) {
        found.warning("stream " + wanted.stream +
                          " is kept in memory: a restart of the broker "
                          "loses what was published",
                      replace);
    }
    if (stream.max_age.count() > 0) {
        found.warning("stream " + wanted.stream +
                          " deletes messages by age (max_age): after an "
                          "idle time without any message, rows are recognised by Nats-Msg-Id alone",
                      "nats stream edit " + wanted.stream + " --max-age=0");
    }
}

}  // namespace

std::vector<finding> broker_findings(const expectations& wanted, const broker_facts& facts) {
    findings_list found;
    look_at_transport(facts, found);
    if (!facts.stream) {
        found.note("stream " + wanted.stream + " does not exist yet",
                   "walrelay init (or run) creates it");
        return found.take();
    }
    look_at_policies(wanted, *facts.stream, found);
    look_at_clean_up(wanted, *facts.stream, found);
    look_at_subjects(wanted, *facts.stream, found);
    return found.take();
}

}  // namespace walrelay::relay
