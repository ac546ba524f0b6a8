// Where the frames of one replication connection stand in the WAL: whether each may come after
// those before it. A position that is not what the server's reorder buffer can have sent makes an
// error, never a row that seems to be stored already.
//
//   begin       commits at or after everything that the server has said to be sent
//   change      not before the change in front of it, not after its transaction's commit
//   commit      the frame itself stands where the transaction ends
//   keepalive   says up to where everything is sent
//
// Sources: src/backend/replication/logical/reorderbuffer.c (transactions in the order of their
// commits, changes in that of their LSNs, also of subtransactions), logical.c (write_location of
// each callback), walsender.c (sentPtr in keepalives).
#pragma once

#include "core/change.hpp"
#include "core/error.hpp"

namespace walrelay::wal {

/// One for each replication connection. After an error it must not be asked again.
class frame_order {
public:
    /// An XLogData frame that begins at `start`, and what it says. Errors: frame_malformed.
    [[nodiscard]] result<void> take(lsn start, const change& decoded);
    /// A keepalive: everything that ends before `end` is sent.
    void alive(lsn end);

private:
    [[nodiscard]] result<void> begin(lsn start, const transaction_begin& begun);
    [[nodiscard]] result<void> change_at(lsn start);
    [[nodiscard]] result<void> commit(lsn start, const transaction_commit& ended) const;

    lsn sent_;    // no transaction that commits before it comes any more
    lsn commit_;  // of the open transaction
    lsn change_;  // the last one of the open transaction; 0 before the first
};

}  // namespace walrelay::wal
