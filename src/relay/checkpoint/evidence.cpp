#include "relay/checkpoint/evidence.hpp"

#include "relay/checkpoint/gap_words.hpp"

#include <algorithm>
#include <utility>

namespace walrelay::relay {
namespace {

bool is_same_stream(const witness& known, const stream_evidence& seen) {
    return known.stream == seen.stream && known.created == seen.created;
}

/// Another broker can have a stream of this name, for another database.
bool is_of_another_database(const witness& known, const stream_evidence& seen) {
    return known.created != seen.created && seen.last_where &&
           seen.last_where->origin.system_identifier != known.origin.system_identifier;
}

/// A stream of the same name was made again, restored or cut; of another name it is another one.
stream_verdict without_it(const witness& known, const stream_evidence& seen, stream_verdict lost) {
    const bool is_another = known.stream != seen.stream || is_of_another_database(known, seen);
    return is_another ? stream_verdict::another_stream : lost;
}

stream_verdict with_row(const witness& known, const stream_evidence& seen,
                        const std::optional<position>& there) {
    if (!known.where) {
        return is_same_stream(known, seen) ? stream_verdict::holds : stream_verdict::another_stream;
    }
    if (there != known.where) {
        return without_it(known, seen, stream_verdict::overwritten);
    }
    return is_same_stream(known, seen) ? stream_verdict::holds : stream_verdict::holds_elsewhere;
}

/// The message is not there any more, although later ones are.
stream_verdict with_message_gone(const witness& known, const stream_evidence& seen) {
    // A stream that was made again under the same name need not have had it.
    return is_same_stream(known, seen) ? stream_verdict::holds
                                       : without_it(known, seen, stream_verdict::overwritten);
}

constexpr const char* if_gone_for_good =
    "if the broker's log says that it could not read the stream, walrelay init --new-stream brings "
    "back what its files have; if the stream is gone for good, it makes a new one; then walrelay "
    "resume --heal publishes into it what the tables have (or walrelay replay --rewind, before the "
    "relay starts again, what a bookmark or the trail reaches back to)";

}  // namespace

stream_evidence evidence_of(const stream_facts& facts, std::string stream) {
    stream_evidence seen;
    seen.stream = std::move(stream);
    seen.created = facts.created;
    seen.first_sequence = facts.first_sequence;
    seen.last_sequence = facts.last_sequence;
    seen.last_where = facts.final_position;
    seen.last_is_there = facts.last_message_there;
    seen.asked = facts.asked;
    seen.in_a_cluster = facts.replicas > 1;
    return seen;
}

bool may_lack_late_rows(const witness& known, const stream_evidence& seen) {
    if (known.created != seen.created) {
        return known.sequence > seen.last_sequence;
    }
    if (!seen.late_rows) {
        return false;
    }
    return std::max(seen.late_rows->after, seen.last_sequence) <
           std::min(seen.late_rows->until, known.sequence);
}

stream_verdict judge_stream(const witness& known, const stream_evidence& seen) {
    if (known.sequence == 0) {
        return is_same_stream(known, seen) ? stream_verdict::holds
                                           : stream_verdict::holds_elsewhere;
    }
    if (seen.last_sequence < known.sequence) {
        return without_it(known, seen, stream_verdict::ends_before);
    }
    if (seen.first_sequence > known.sequence) {
        return with_message_gone(known, seen);
    }
    if (seen.last_sequence == known.sequence && seen.last_is_there) {
        return with_row(known, seen, seen.last_where);
    }
    if (!seen.asked || seen.asked->sequence != known.sequence) {
        return stream_verdict::ask;
    }
    const bool is_there = seen.asked->where || !seen.asked->id.empty();
    return is_there ? with_row(known, seen, seen.asked->where) : with_message_gone(known, seen);
}

bool is_loss(stream_verdict what) {
    return what == stream_verdict::ends_before || what == stream_verdict::overwritten ||
           what == stream_verdict::another_stream;
}

bool is_sent_again(const witness& known, const stream_evidence& seen,
                   const std::optional<position>& ends, lsn stands, const lineage& line) {
    const bool lacks_one_row =
        is_same_stream(known, seen) && known.where && seen.last_sequence + 1 == known.sequence;
    if (lacks_one_row) {
        return line.shares(*known.where) && known.where->at.commit >= stands;
    }
    return !may_lack_late_rows(known, seen) && ends && line.shares(*ends) &&
           ends->at.commit >= stands;
}

bool explains_slot(const witness& known, lsn place, const lineage& line) {
    if (known.origin.system_identifier != line.origin.system_identifier ||
        !line.includes(known.origin.timeline)) {
        return false;
    }
    const auto ended = line.end_of(known.origin.timeline);
    return place <= (ended ? std::min(*ended, known.told) : known.told);
}

std::string to_text(const witness& known) {
    return "walrelay.witness says that " +
           (known.sequence == 0 ? std::string("nothing was stored yet in")
                                : "everything up to sequence " + std::to_string(known.sequence) +
                                      (known.where ? " (position " + to_string(*known.where) + ")"
                                                   : std::string()) +
                                      " was stored in") +
           " stream " + known.stream;
}

error stream_has_lost(const witness& known, const stream_evidence& seen, stream_verdict what,
                      const std::string& slot) {
    if (what == stream_verdict::another_stream) {
        return {errc::gap_found,
                to_text(known) + ", and stream " + seen.stream +
                    " does not have that message at that place: it is another stream, so that rows "
                    "which slot " +
                    slot + " does not send any more would be missing in it",
                "walrelay check looks again; if the name or the broker is wrong: set nats.stream "
                "and nats.urls to those of "
                "stream " +
                    known.stream + ", then walrelay resume; if stream " + seen.stream +
                    " is a new beginning: walrelay init --new-stream, then walrelay resume --heal, "
                    "which publishes into it what the tables have, or walrelay resume"};
    }
    return {
        errc::gap_found,
        "stream " + seen.stream + " has lost messages that it had acked: " + to_text(known) +
            (what == stream_verdict::ends_before
                 ? ", and it ends with sequence " + std::to_string(seen.last_sequence)
                 : ", and another message stands at that sequence now") +
            "; slot " + slot +
            " was advanced past some of their rows and does not send them again (the stream was "
            "made again or restored, or the broker's machine lost unsynced writes)",
        how_to_close_loss()};
}

error stream_is_gone(const witness& known, const std::string& stream, const std::string& slot) {
    const bool is_renamed = known.stream != stream;
    return {errc::gap_found,
            "there is no stream " + stream + " on the broker, but " + to_text(known) +
                (is_renamed ? "" : ": the stream was deleted, or this is another broker") +
                "; slot " + slot +
                " does not send those rows again, so that no new stream is made by itself",
            "walrelay check looks again; if the name or the broker is wrong: set nats.stream and "
            "nats.urls to those of stream " +
                known.stream + ", then walrelay resume; " + if_gone_for_good};
}

error stream_is_missing(const std::string& stream, const std::string& slot, lsn began, lsn stands) {
    return {errc::gap_found,
            "there is no stream " + stream + " on the broker, but slot " + slot +
                " stands at LSN " + to_string(stands) + " and began at " + to_string(began) +
                ": rows were relayed before, and the slot does not send them again, so that no new "
                "stream is made by itself",
            std::string("walrelay check looks again; if the name or the broker is wrong: set "
                        "nats.stream and nats.urls, then "
                        "walrelay resume; ") +
                if_gone_for_good};
}

error stream_has_vanished(const std::string& stream, const std::string& slot) {
    return {errc::gap_found,
            "stream " + stream + " is gone from the broker; it was there before, and what slot " +
                slot + " does not send again was in it alone: rows are in the outbox tables",
            std::string("walrelay check looks again; ") + if_gone_for_good};
}

}  // namespace walrelay::relay
