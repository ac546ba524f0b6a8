// What the database keeps of what was stored (walrelay.witness, one row for each slot). It decides
// nothing of what is published, which the stream's messages alone do: it is the evidence that
// convicts a stream or a slot that has lost something. Plain data.
#pragma once

#include "core/change.hpp"
#include "core/lsn.hpp"
#include "core/position.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace walrelay {

/// A message that is in the stream.
struct stored_message {
    std::uint64_t sequence = 0;
    /// Nothing where the broker has only said that it has the row's id: it need not be the same
    /// position.
    std::optional<position> where = {};

    friend bool operator==(const stored_message&, const stored_message&) = default;
};

struct witness {
    /// The stream by its name and the time of its creation.
    std::string stream = {};
    wall_time created = {};
    /// Its last message that is known to be stored, and that message's position. 0 is none; without
    /// a position it is a message of somebody else.
    std::uint64_t sequence = 0;
    std::optional<position> where = {};
    /// Every row committed before is stored or set aside, so that the slot may be told so; an LSN
    /// of the history `origin`. While nothing is stored the slot may stand after it.
    lsn told = {};
    history origin = {};
    /// Counts the changes of the row; 0 where there is none yet.
    std::uint64_t version = 0;

    friend bool operator==(const witness&, const witness&) = default;
};

/// How much the witness of a database can be relied on.
struct witness_reading {
    /// Nothing where no relay of this version has stored anything.
    std::optional<witness> kept = {};
    /// It can be written; otherwise no loss can be told from it later.
    bool writable = false;
    /// Rows that were committed after it, and they alone, can be told from those before; 0 where
    /// they cannot.
    lsn tells_later_than = {};
};

}  // namespace walrelay
