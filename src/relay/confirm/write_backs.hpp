// Rows that are to be written back once they are published: ack, write back, confirm. Pure.
//
//     awaited -> stored (the lane says so) -> in flight (one batch at a time) -> written
//
// Stands between the lane and the ledger, which is told only of what is stored and written back, so
// that the slot keeps a row until its status is in the table. Knows nothing of SQL.
#pragma once

#include "core/change.hpp"
#include "core/position.hpp"

#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <vector>

namespace walrelay::relay {

struct awaited_row {
    /// Of the table in the configuration.
    std::size_t table = 0;
    commit_position where = {};
    /// The text of the column that is mapped as id.
    std::string key = {};
    /// The stream had it before this connection read it: it may be a dead letter of an earlier one.
    bool reread = false;
    /// It comes from a dead letter, so that its status is no longer that of a row to be sent.
    bool retried = false;
    /// Of the transaction that wrote it; nothing where it was read in a snapshot.
    std::optional<transaction_id> xid = {};
};

/// Rows of one table, in commit order, all retried or none.
struct write_back_batch {
    std::size_t table = 0;
    bool retried = false;
    std::vector<awaited_row> rows = {};
};

class write_backs {
public:
    static constexpr std::size_t batch_rows = 1000;
    static constexpr std::size_t awaited_rows = 16384;

    /// `wanted` is whether any table has write-backs; without, everything passes through.
    explicit write_backs(bool wanted) : wanted_(wanted) {}

    /// An event of a table with a write-back was read; they come in commit order. One that was
    /// written back since this object began is let go.
    void await(awaited_row row);
    /// A transaction was read to its end; this is its last event.
    void read_up_to(commit_position last_event) { read_ = last_event; }

    /// What the ledger may be told when the lane says `stored`.
    [[nodiscard]] std::optional<commit_position> settled(std::optional<commit_position> stored);

    /// The next batch of rows that are stored; nothing while one is in flight.
    [[nodiscard]] std::optional<write_back_batch> next_batch(std::optional<commit_position> stored);
    /// The batch in flight is committed.
    void written();
    /// The batch in flight is not; its rows are given out again.
    void failed() { in_flight_ = {}; }

    /// The event of this position is not published: it became a dead letter.
    void leave(commit_position where);
    /// The replication connection is gone: what is awaited will be read again.
    void forget();

    [[nodiscard]] bool wanted() const { return wanted_; }
    /// Of no concern before the stream's tail is met: as many rows are awaited then as the slot has
    /// before it.
    [[nodiscard]] bool has_room() const { return size_ < awaited_rows; }
    [[nodiscard]] bool empty() const { return size_ == 0; }
    [[nodiscard]] std::size_t size() const { return size_; }
    /// Those of one table.
    [[nodiscard]] std::size_t size_of(std::size_t table) const {
        return table < queues_.size() ? queues_[table].size() : 0;
    }
    [[nodiscard]] bool in_flight() const { return in_flight_.rows > 0; }
    [[nodiscard]] std::size_t in_flight_count() const { return in_flight_.rows; }

private:
    struct batch_in_flight {
        std::size_t table = 0;
        std::size_t rows = 0;
    };

    [[nodiscard]] const std::deque<awaited_row>* oldest() const;

    bool wanted_;
    /// By table; each in commit order.
    std::vector<std::deque<awaited_row>> queues_;
    std::size_t size_ = 0;
    batch_in_flight in_flight_;
    std::optional<commit_position> read_;
    /// The furthest that was settled since this object began.
    std::optional<commit_position> settled_;
};

}  // namespace walrelay::relay
