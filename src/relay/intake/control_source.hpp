// What walrelay says to its relays through the WAL: rows of walrelay.control. Pure.
#pragma once

#include "core/first_revision.hpp"
#include "relay/intake/control_proof.hpp"
#include "relay/intake/control_row.hpp"
#include "relay/intake/event_placer.hpp"
#include "relay/intake/table_doubts.hpp"

#include <cstdint>

namespace walrelay::relay {

class control_source {
public:
    /// All of these must outlive this.
    control_source(event_placer& events, table_doubts& tables, const intake_options& options)
        : events_(events), tables_(tables), options_(options) {}

    /// What nobody may ask for is left alone, and told in `frame_read::remark`. What somebody may,
    /// and cannot be done, is told in a dead letter: nobody would look for it in the log.
    result<void> take(const row_insert& row, const reading& now);

private:
    result<void> take_retry(const control_row& said, const reading& now);
    result<void> take_replay(const control_row& said, const reading& now);
    /// Its event was never read.
    result<void> take_large(const row_insert& row, const control_row& said, const reading& now);
    result<void> set_large_aside(const row_insert& row, const control_row& said,
                                 const reading& now);
    void decline_retry(const control_row& said, const error& why, const reading& now) const;

    event_placer& events_;
    table_doubts& tables_;
    const intake_options& options_;
    control_verifier verifier_;
    std::uint64_t next_revision_ = first_revision::of_retries;
};

}  // namespace walrelay::relay
