// Turns what the stream has into what the slot could forget. Whether it may is the business of
// relay/hold_back, which comes after.
//
//   value      moves when                                          never
//   acked      every event of a transaction and of all before it   inside a transaction, past an
//              is stored; then it is that transaction's end LSN     event not stored, backwards
//   idle       two keepalives have said so, and no transaction     while anything is pending
//              is open; what is pending then is acked together
//              with it
//
// A transaction without outbox events counts as stored at once. Positions are those of one history
// (see core/position.hpp); with a new history comes a new ledger.
#pragma once

#include "core/lsn.hpp"
#include "core/position.hpp"

#include <boost/circular_buffer.hpp>

#include <cstddef>
#include <optional>

namespace walrelay::relay {

/// What the transaction of `where` has published, where that event is no message any more.
[[nodiscard]] inline std::optional<commit_position> last_published_without(
    commit_position where, std::optional<commit_position> before) {
    return before && before->commit == where.commit ? before : std::nullopt;
}

class ledger {
public:
    /// A transaction has been read to its end. `last_event` is the position of its last outbox
    /// event, nothing if it has none, `last_published` that of the last one that is no dead letter;
    /// transactions come in commit order.
    void transaction_ended(std::optional<commit_position> last_event,
                           std::optional<commit_position> last_published, lsn end);

    /// An event that was to be published has become a dead letter; `before` is the last one before
    /// it that is in the stream, of any transaction.
    void set_aside(commit_position where, std::optional<commit_position> before);

    /// Every event up to and including this one is stored.
    void stored_up_to(commit_position where);

    /// The server says that it has nothing more for us up to `end`. To be called only outside a
    /// transaction. It is believed as far as the server has said the same before, since nothing
    /// else on a connection shows that a position was altered on the way. Returns whether it is to
    /// be asked to say it again. While transactions are pending, the last of them takes `end` as
    /// its own: the server sends no second keepalive for the same position (walsender.c,
    /// WalSndWaitForWal), so that one which was forgotten would hold the slot back until something
    /// else is written.
    [[nodiscard]] bool idle_at(lsn end);

    /// The replication connection is gone: what was read but not acked will be read again.
    void forget_pending() {
        pending_.clear();
        said_idle_ = {};
    }

    /// The end of the last transaction that is stored with all before it. 0 until one is known.
    [[nodiscard]] lsn acked() const { return acked_; }
    /// The last event of all that `acked` covers and that is in the stream; nothing if this ledger
    /// saw none.
    [[nodiscard]] std::optional<commit_position> acked_event() const { return acked_event_; }

    /// Whether every transaction that was read is stored.
    [[nodiscard]] bool settled() const { return pending_.empty(); }

    /// Transactions waiting for their acks; never more than there are events in flight.
    [[nodiscard]] std::size_t pending_count() const { return pending_.size(); }

private:
    struct transaction {
        commit_position last_event;
        std::optional<commit_position> last_published;
        lsn end;
    };

    static constexpr std::size_t least_pending = 64;

    void ack(std::optional<commit_position> last_published, lsn end);

    /// Grows where it must, and allocates nothing else: there can be one for each event.
    boost::circular_buffer<transaction> pending_{least_pending};
    std::optional<commit_position> stored_;
    lsn said_idle_;  // by the last keepalive of this connection
    lsn acked_;
    std::optional<commit_position> acked_event_;
};

}  // namespace walrelay::relay
