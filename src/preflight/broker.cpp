// What is wrong with a stream, and the command that fixes it.

#include "core/finding.hpp"
#include "core/joined.hpp"
#include "outbox/table_mapper.hpp"
#include "preflight/preflight.hpp"
#include "preflight/transport.hpp"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <string_view>

namespace walrelay::preflight {
namespace {

/// Subjects can be anybody's: a shell runs nothing of what stands in single quotes.
std::string for_a_shell(std::string_view text) {
    std::string quoted = "'";
    for (const char each : text) {
        quoted += each == '\'' ? std::string(R"('\'')") : std::string(1, each);
    }
    return quoted + "'";
}

std::string edit(const expectations& wanted, const std::string& options) {
    return "nats stream edit " + wanted.stream + " " + options;
}

/// `subjects`: those of the stream, or what it is to be made with.
void look_at_subjects(const expectations& wanted, const std::vector<std::string>& subjects,
                      bool is_there, findings_list& found) {
    for (const auto& table : wanted.tables) {
        const auto mapper = outbox::table_mapper::make(table);
        if (!mapper) {
            continue;  // a finding of the PostgreSQL side
        }
        const auto pattern = mapper->subject_pattern();
        const auto covers = [&](const std::string& each) { return subject_covers(each, pattern); };
        if (std::ranges::any_of(subjects, covers)) {
            continue;
        }
        // The server refuses a stream whose subjects overlap.
        std::vector<std::string> more;
        std::ranges::copy_if(subjects, std::back_inserter(more), [&](const std::string& each) {
            return !subject_covers(pattern, each);
        });
        more.push_back(pattern);
        const auto of_table = "the subjects of " + to_string(table.table) + " (" + pattern + ")";
        if (is_there) {
            found.error("subjects_not_covered",
                        "stream " + wanted.stream + " (subjects " + joined(subjects, ",") +
                            ") does not cover " + of_table,
                        edit(wanted, "--subjects=" + for_a_shell(joined(more, ","))));
        } else {
            found.error("subjects_not_covered",
                        "stream " + wanted.stream + ", which is still to be made, would take " +
                            joined(subjects, ",") + " (nats.subjects): not " + of_table,
                        "set nats.subjects = [\"" + joined(more, "\", \"") +
                            "\"], or let outbox.subject begin with what is there");
        }
    }
}

/// What the stream forgets before it is due is never deleted.
void look_at_clean_up(const expectations& wanted, const stream_facts& stream,
                      findings_list& found) {
    for (const auto& table : wanted.tables) {
        if (stream.max_age.count() > 0 && table.delete_after &&
            *table.delete_after >= stream.max_age) {
            const auto name = to_string(table.table);
            found.warning("max_age_before_cleanup",
                          "stream " + wanted.stream +
                              " deletes messages (max_age) before the rows of " + name +
                              " are due (outbox.delete_after): these rows are never deleted",
                          "make delete_after of " + name +
                              " shorter, or max_age longer: " + edit(wanted, "--max-age=..."));
        }
    }
}

/// With other writers the ids alone tell what is there already, for as long as they are remembered.
void look_at_duplicates(const expectations& wanted, const stream_facts& stream,
                        findings_list& found) {
    using std::chrono::duration_cast;
    using std::chrono::milliseconds;
    constexpr milliseconds by_default = std::chrono::minutes(2);
    const auto needed = std::max(by_default, 2 * wanted.ack_timeout);
    const auto has = duration_cast<milliseconds>(stream.duplicate_window);
    if (wanted.sole_writer || has >= needed) {
        return;
    }
    found.warning(
        "duplicate_window_short",
        "stream " + wanted.stream + " remembers a message id for " + std::to_string(has.count()) +
            " ms (duplicate_window), and nats.sole_writer is false: a row that is sent again "
            "after a longer outage of the broker or of walrelay can be in it twice",
        edit(wanted, "--dupe-window=" + std::to_string(needed.count() / 1000) + "s") +
            ", or more; a server whose limit is lower refuses that: raise "
            "duplicate_window there before (jetstream { limits { duplicate_window } } in "
            "nats-server.conf)" +
            (stream.max_age.count() > 0 ? "; max_age of the stream is to be no shorter" : ""));
}

/// Streams that are made for something else.
void look_at_use(const expectations& wanted, const stream_facts& stream, findings_list& found) {
    const std::string own =
        "name another stream in nats.stream, which walrelay init creates, with "
        "subjects of its own (nats.subjects and outbox.subject)";
    if (stream.is_counter) {
        found.error("stream_is_counter",
                    "stream " + wanted.stream +
                        " is a counter (allow_msg_counter): it refuses every message of walrelay",
                    own);
    }
    const bool is_bucket = std::ranges::any_of(stream.subjects, [](const std::string& subject) {
        return subject.starts_with("$KV.") || subject.starts_with("$O.");
    });
    if (is_bucket) {
        found.error("stream_is_bucket",
                    "stream " + wanted.stream +
                        " is that of a key-value or object bucket, whose clients write to it",
                    own);
    }
    if (stream.acks_before_stored) {
        found.warning("stream_acks_early",
                      "stream " + wanted.stream +
                          " acks what it has not written yet (persist_mode = async): a crash of "
                          "the broker loses acked messages",
                      own +
                          ", or set delivery.confirm_delay to a little more than the server's "
                          "sync_interval");
    }
}

void look_at_policies(const expectations& wanted, const stream_facts& stream,
                      findings_list& found) {
    // Nothing that takes messages away: who else reads them is not known here.
    const auto replace =
        "name another stream in nats.stream, which walrelay init creates, with subjects of its own "
        "(nats.subjects and outbox.subject); " +
        (stream.sealed
             ? std::string("nobody can change a sealed stream")
             : "to keep the subjects, give " + wanted.stream +
                   " others before, which deletes nothing: " + edit(wanted, "--subjects=..."));
    if (stream.retention != stream_retention::limits) {
        found.error(
            "retention_not_limits",
            "stream " + wanted.stream + " has " +
                (stream.retention == stream_retention::interest ? "interest" : "workqueue") +
                " retention: consumed messages vanish, and with them the place to go on "
                "from; walrelay needs limits",
            replace);
    }
    if (stream.sealed) {
        found.error("stream_sealed", "stream " + wanted.stream + " is sealed", replace);
    }
    if (stream.no_ack) {
        found.error("stream_without_acks", "stream " + wanted.stream + " does not ack (no_ack)",
                    edit(wanted, "--ack"));
    }
    if (stream.mirror_or_sourced) {
        found.error("stream_mirrored",
                    "stream " + wanted.stream +
                        " is a mirror or has sources, so walrelay is not "
                        "its only writer",
                    "name a stream of its own: nats.stream");
    }
    if (!stream.file_storage) {
        found.warning("stream_in_memory",
                      "stream " + wanted.stream +
                          " is kept in memory: a restart of the broker "
                          "loses what was published",
                      replace);
    }
    if (stream.max_age.count() > 0) {
        found.warning("stream_max_age",
                      "stream " + wanted.stream +
                          " deletes messages by age (max_age): after an "
                          "idle time without any message, rows are recognised by Nats-Msg-Id alone",
                      edit(wanted, "--max-age=0"));
    }
}

/// A full stream that takes what is new removes what is oldest, read or not.
void look_at_removal(const expectations& wanted, const stream_facts& stream, findings_list& found) {
    std::string limits;
    const auto add = [&](const char* setting, std::int64_t limit) {
        if (limit > 0) {
            limits += (limits.empty() ? "" : ", ") + (std::string(setting) + " = ") +
                      std::to_string(limit);
        }
    };
    add("max_msgs", stream.max_messages);
    add("max_bytes", stream.max_bytes);
    add("max_msgs_per_subject", stream.max_messages_per_subject);
    if (!limits.empty()) {
        found.note("stream_removes_oldest",
                   "stream " + wanted.stream + " removes its oldest messages where it is full (" +
                       limits + ", discard old), whether or not they were read",
                   "nothing where that is meant; else raise the limit, or: " +
                       edit(wanted, "--discard=new"));
    }
}

/// Where the stream refuses what is new, rows wait for as long as it is full.
void look_at_room(const expectations& wanted, const stream_facts& stream, findings_list& found) {
    if (!stream.discard_new) {
        look_at_removal(wanted, stream, found);
        return;
    }
    const auto look = [&](const std::string& setting, const std::string& option, std::int64_t limit,
                          std::uint64_t used, std::uint64_t next) {
        if (limit <= 0) {
            return;
        }
        const auto most = static_cast<std::uint64_t>(limit);
        const auto name = setting + " = " + std::to_string(limit) + ", discard new";
        const auto raise = edit(wanted, option + "=-1, or a greater number") +
                           "; a limit that grows deletes nothing";
        if (used + next > most) {
            found.warning("stream_full",
                          "stream " + wanted.stream + " is full (" + name +
                              ") and refuses messages: rows wait in the slot, which keeps WAL",
                          raise);
        } else if (stream.max_age.count() == 0) {
            found.note("stream_can_fill",
                       "stream " + wanted.stream + " takes no more messages once it is full (" +
                           name + "): rows then wait in the slot, which keeps WAL",
                       raise);
        }
    };
    const auto count = stream.message_count;
    look("max_msgs", "--max-msgs", stream.max_messages, count, 1);
    look("max_bytes", "--max-bytes", stream.max_bytes, stream.byte_count,
         count == 0 ? 1 : stream.byte_count / count);
    if (stream.discard_new_per_subject && stream.max_messages_per_subject > 0) {
        const auto most = std::to_string(stream.max_messages_per_subject);
        found.warning("stream_refuses_per_subject",
                      "stream " + wanted.stream + " keeps " + most +
                          " messages of each subject and refuses more "
                          "(discard_new_per_subject): the next row of such a subject stops the "
                          "relay",
                      edit(wanted, "--no-discard-per-subject --max-msgs-per-subject=-1") +
                          ", which deletes nothing");
    }
}

std::string create_subject(const expectations& wanted) {
    return wanted.api + ".STREAM.CREATE." + wanted.stream;
}

/// One of those that the pattern stands for.
std::string sample_of(std::string pattern) {
    constexpr std::string_view word = "walrelay_check";
    std::string subject;
    for (const char each : pattern) {
        each == '*' || each == '>' ? subject += word : subject += each;
    }
    return subject;
}

void look_at_trial(const expectations& wanted, const publish_trial& trial, findings_list& found) {
    for (const auto& [subject, said] : trial.refused) {
        const bool creates = subject == create_subject(wanted);
        found.error(
            creates ? finding_code("stream_not_creatable") : finding_code("publish_not_allowed"),
            creates ? "stream " + wanted.stream +
                          " does not exist yet, and the broker's account may not create it "
                          "(server: " +
                          said + ")"
                    : "the broker's account may not publish, for one, to " + subject +
                          ": no such row reaches the stream (server: " + said + ")",
            creates ? "create it with another account (walrelay init --print shows it), or allow "
                      "the user of nats.urls to publish to " +
                          subject
                    : "allow the user of nats.urls to publish to the subjects of stream " +
                          wanted.stream +
                          " (permissions in nats-server.conf; with JWTs: nsc edit user "
                          "--allow-pub)");
    }
    if (trial.too_long_line_bytes > 0) {
        found.warning("max_control_line_small",
                      "the broker's max_control_line is smaller than the " +
                          std::to_string(trial.too_long_line_bytes) +
                          " bytes of walrelay's longest protocol lines: a row with such a subject "
                          "stops the relay",
                      "set max_control_line in nats-server.conf to its default of 4096, or take "
                      "the line out, then: nats-server --signal reload");
    }
}

void look_at_reading(const expectations& wanted, const reading_trial& trial, findings_list& found) {
    const auto costs = ": healing, verify and the clean-up need a request for each message";
    const auto fix =
        "raise what limits consumers, max_consumers for one, of the account and of "
        "stream " +
        wanted.stream + " (nats account info, nats stream info " + wanted.stream + ")";
    if (!trial.failed.empty()) {
        found.error(
            "stream_not_readable",
            "the last messages of stream " + wanted.stream + " cannot be read: " + trial.failed,
            fix);
    } else if (!trial.no_consumer.empty()) {
        found.warning("stream_read_one_by_one",
                      "the server lets walrelay have no consumer of stream " + wanted.stream +
                          costs + " (server: " + trial.no_consumer + ")",
                      fix);
    } else if (trial.one_for_each_request) {
        found.warning("stream_read_one_by_one",
                      "of several messages of stream " + wanted.stream +
                          " that are asked for only one comes" + costs,
                      "where the account imports JetStream's API: export $JS.API.> with "
                      "response_type: stream; else raise max_request_batch");
    }
}

std::string counted_bytes(std::int64_t count) {
    return std::to_string(count) + " bytes";
}

/// What of the account's limit is left for the stream. Servers that do not tell what its other
/// streams reserve tell at least what they hold.
std::int64_t bytes_left(const account_limits& has) {
    const auto held = static_cast<std::int64_t>(has.storage);
    const auto taken = has.reserved ? static_cast<std::int64_t>(*has.reserved) : held;
    return held >= has.storage_max ? 0 : std::max<std::int64_t>(has.storage_max - taken, 0);
}

template <class Forbid>
void look_at_bytes(const expectations& wanted, const account_limits& has, const Forbid& forbid,
                   findings_list& found) {
    // A stream without a limit reserves nothing, and wants room for a byte all the same.
    const auto asked = static_cast<std::int64_t>(wanted.stream_max_bytes.value_or(1));
    const auto of_stream = wanted.stream_max_bytes ? "nats.max_bytes is " + counted_bytes(asked)
                                                   : std::string("nats.max_bytes is not set");
    if (has.stream_bytes_max >= 0 && asked > has.stream_bytes_max) {
        forbid(of_stream + ", and the account lets a stream have " +
                   counted_bytes(has.stream_bytes_max),
               "make nats.max_bytes smaller");
        return;
    }
    if (has.storage_max < 0) {
        return;
    }
    const auto left = bytes_left(has);
    const auto has_left = ", and the account has " + counted_bytes(left) + " of its " +
                          counted_bytes(has.storage_max) + " left";
    const auto fix =
        std::string(wanted.stream_max_bytes ? "make nats.max_bytes smaller, or " : "") +
        "raise max_storage of the account";
    if (asked > left) {
        forbid(of_stream + has_left, fix);
    } else if (asked > left / has.copies) {
        // Source: nats-server, server/jetstream.go (checkBytesLimits) from 2.9 to 2.14.
        found.warning("stream_outgrows_account",
                      of_stream + ", which the account counts for each of " +
                          std::to_string(has.copies) + " replicas" + has_left + ": stream " +
                          wanted.stream +
                          " is refused messages before it is full, and most versions of "
                          "nats-server do not create it",
                      fix);
    }
}

/// Whether the account has room for the stream that is still to be made.
void look_at_account(const expectations& wanted, const account_limits& has, findings_list& found) {
    const auto forbid = [&](const std::string& why, const std::string& fix) {
        found.error(
            "stream_not_creatable",
            "stream " + wanted.stream + " does not exist yet, and cannot be created: " + why, fix);
    };
    if (!has.missing_tier.empty()) {
        forbid("the account has limits for each number of replicas, and none for " +
                   has.missing_tier + " (nats.replicas)",
               "set nats.replicas to one that the account has (nats account info), or add tier " +
                   has.missing_tier + " to it");
        return;
    }
    if (has.streams_max >= 0 && has.streams >= has.streams_max) {
        forbid("the account has all the streams that it may have (max_streams = " +
                   std::to_string(has.streams_max) + ")",
               "raise max_streams of the account, or name a stream in nats.stream that nothing "
               "else writes to (nats stream ls)");
    }
    if (!wanted.stream_max_bytes && has.needs_max_bytes) {
        forbid("the account takes no stream without a limit of bytes (max_bytes_required)",
               "set nats.max_bytes");
        return;
    }
    look_at_bytes(wanted, has, forbid, found);
}

/// The server counts them for each stream, so those who read the one of walrelay take some.
void look_at_consumers(const expectations& wanted, const account_limits& has,
                       findings_list& found) {
    const bool cleans_up = std::ranges::any_of(
        wanted.tables, [](const outbox_table& table) { return table.delete_after.has_value(); });
    const std::int64_t own = cleans_up ? 2 : 1;
    if (has.consumers_max < 0 || has.consumers_max > own) {
        return;
    }
    found.warning(
        "stream_read_one_by_one",
        "the account lets a stream have " + std::to_string(has.consumers_max) +
            " consumers (max_consumers), and walrelay takes " + std::to_string(own) +
            (cleans_up ? ", one of them for delete_after" : " for as long as it reads the stream") +
            ": beside those of others, healing, verify and the clean-up need a request for each "
            "message of stream " +
            wanted.stream,
        "raise max_consumers of the account (nats account info)");
}

}  // namespace

std::vector<std::string> subjects_to_try(const expectations& wanted, const broker_facts& facts) {
    std::vector<std::string> subjects;
    for (const auto& table : wanted.tables) {
        if (const auto mapper = outbox::table_mapper::make(table)) {
            subjects.push_back(sample_of(mapper->subject_pattern()));
        }
    }
    if (!facts.stream) {
        subjects.push_back(create_subject(wanted));
    }
    return subjects;
}

finding subjects_are_taken(const expectations& wanted, const std::vector<std::string>& streams) {
    return {finding_severity::error, "stream_not_creatable",
            "stream " + wanted.stream +
                " does not exist yet, and cannot be created: of its "
                "subjects (" +
                joined(wanted.stream_subjects, ",") + ") some are those of stream " +
                joined(streams, ","),
            "set nats.subjects and outbox.subject to subjects that no other stream has; or name "
            "that stream in nats.stream, if walrelay is to write into it"};
}

std::vector<finding> broker_findings(const expectations& wanted, const broker_facts& facts) {
    findings_list found;
    look_at_transport(facts, found);
    if (facts.trial) {
        look_at_trial(wanted, *facts.trial, found);
    }
    if (facts.reading) {
        look_at_reading(wanted, *facts.reading, found);
    }
    if (!facts.stream && facts.account) {
        look_at_account(wanted, *facts.account, found);
        look_at_consumers(wanted, *facts.account, found);
    }
    if (!facts.stream) {
        if (!wanted.stream_subjects.empty()) {
            look_at_subjects(wanted, wanted.stream_subjects, false, found);
        }
        found.note("stream_missing", "stream " + wanted.stream + " does not exist yet",
                   "walrelay init (or run) creates it");
        return found.take();
    }
    look_at_use(wanted, *facts.stream, found);
    look_at_policies(wanted, *facts.stream, found);
    look_at_room(wanted, *facts.stream, found);
    look_at_clean_up(wanted, *facts.stream, found);
    look_at_duplicates(wanted, *facts.stream, found);
    look_at_subjects(wanted, facts.stream->subjects, true, found);
    return found.take();
}

}  // namespace walrelay::preflight
