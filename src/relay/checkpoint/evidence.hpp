// What the witness says of a stream and of a slot: whether they still have what was stored, or have
// lost something that a quiet day would not explain. Pure.
#pragma once

#include "core/error.hpp"
#include "core/facts.hpp"
#include "core/lineage.hpp"
#include "core/witness.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace walrelay::relay {

/// Messages after the one sequence and until the other can be of rows that committed before those
/// of messages before them; none where they are equal.
struct disorder {
    std::uint64_t after = 0;
    std::uint64_t until = 0;
};

/// The stream as a look at it has shown.
struct stream_evidence {
    std::string stream = {};
    wall_time created = {};
    std::uint64_t first_sequence = 0;
    std::uint64_t last_sequence = 0;
    /// Of the message at last_sequence; nothing if that is not walrelay's or is gone.
    std::optional<position> last_where = {};
    bool last_is_there = false;
    /// The message that the witness names, once it was asked for.
    std::optional<asked_message> asked = {};
    bool in_a_cluster = false;
    /// Nothing where the stream's description does not say it.
    std::optional<disorder> late_rows = {};
};

/// Whether the messages after the stream's last and until the one that the witness names can be of
/// rows which were published late. One that was made again or restored does not say what came to
/// stand after its end before, whatever its description says now.
[[nodiscard]] bool may_lack_late_rows(const witness& known, const stream_evidence& seen);

[[nodiscard]] stream_evidence evidence_of(const stream_facts& facts, std::string stream);

enum class stream_verdict {
    /// It has what the witness names, or its limits have removed that.
    holds,
    /// The same of a stream with another name or time of creation.
    holds_elsewhere,
    /// The message that the witness names must be read first.
    ask,
    /// It ends before that message: what came after its end is gone.
    ends_before,
    /// Another message stands in its place: the stream was cut, and filled again.
    overwritten,
    /// It is another stream, and nothing shows that it has what was stored.
    another_stream,
};

[[nodiscard]] stream_verdict judge_stream(const witness& known, const stream_evidence& seen);

/// Whether something that was stored is not there, as far as the verdict goes.
[[nodiscard]] bool is_loss(stream_verdict what);

/// Whether a slot that stands at `stands` of a server of this history sends all that a stream lacks
/// which ends before what the witness names: rows after its end commit after `ends`, its last
/// position, unless some were published late. Of the message that the witness names the row is
/// known: where that alone is gone, nothing else is asked.
[[nodiscard]] bool is_sent_again(const witness& known, const stream_evidence& seen,
                                 const std::optional<position>& ends, lsn stands,
                                 const lineage& line);

/// Whether a slot that stands at `place` of a server of this history was brought there by what the
/// witness names: every row before is known to be stored.
[[nodiscard]] bool explains_slot(const witness& known, lsn place, const lineage& line);

/// In words: what the witness has seen, for the errors below.
[[nodiscard]] std::string to_text(const witness& known);

/// Messages that were acked are gone, and the slot was told past their rows.
[[nodiscard]] error stream_has_lost(const witness& known, const stream_evidence& seen,
                                    stream_verdict what, const std::string& slot);
/// There is no such stream although the slot's rows were stored in one; for whoever meets that.
[[nodiscard]] error stream_is_gone(const witness& known, const std::string& stream,
                                   const std::string& slot);

/// The same where there is no witness, but the slot has moved since it was made.
[[nodiscard]] error stream_is_missing(const std::string& stream, const std::string& slot, lsn began,
                                      lsn stands);
/// The same for a relay that has seen the stream a moment ago.
[[nodiscard]] error stream_has_vanished(const std::string& stream, const std::string& slot);

}  // namespace walrelay::relay
