// The replication slot and its walsender. The slot streams from its confirmed position, remembers
// that position on disk only at checkpoints, and serves one session at a time.
//
// Sources of the rules: src/backend/replication/walsender.c (WalSndWaitForWal: when a keepalive is
// sent; WalSndKeepaliveIfNecessary, WalSndCheckTimeOut) and logical.c
// (LogicalConfirmReceivedLocation; CreateDecodingContext: where a session begins).
#pragma once

#include "core/error.hpp"
#include "sim/checker.hpp"
#include "sim/database.hpp"
#include "sim/server_frames.hpp"

#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace walrelay::sim {

/// What the client of a session is told.
struct replication_events {
    std::function<void()> on_readable;
    std::function<void(const error&)> on_lost;
};

class slot_server;

/// One replication connection, both its ends.
class replication_session {
public:
    // The client's side.
    [[nodiscard]] bool has_frame() const { return !arrived_.empty(); }
    std::string take_frame();
    /// Where the slot stood.
    [[nodiscard]] lsn began_at() const { return began_at_; }
    /// Of the server.
    [[nodiscard]] const lineage& line() const { return line_; }
    [[nodiscard]] lsn wal_end() const { return wal_end_; }
    [[nodiscard]] std::uint64_t incarnation() const { return incarnation_; }
    [[nodiscard]] output_plugin plugin() const { return plugin_.plugin; }
    void send_status(const std::string& update);
    /// The client is gone; the server may notice late, and may read what was sent before.
    void close();
    void finish() {
        closing_in_order_ = true;
        close();
    }

private:
    friend class slot_server;
    replication_session(slot_server& server, replication_events events);

    slot_server& server_;
    replication_events events_;
    bool client_there_ = true;
    bool server_there_ = true;
    bool closing_in_order_ = false;
    // Frames on their way, and those that the client may read.
    std::size_t travelling_ = 0;
    std::deque<std::string> arrived_;
    sim_time next_arrival_{0};
    sim_time next_status_{0};
    // The walsender.
    plugin_session plugin_;
    std::size_t next_transaction_ = 0;
    std::deque<std::string> frames_;  // of the transaction that is being sent
    lsn sent_;
    reported client_;
    lsn began_at_;
    lineage line_;
    lsn wal_end_;
    std::uint64_t incarnation_ = 0;
    lsn told_;  // by the client's side, on this connection
    sim_time last_reply_{0};
    bool ping_out_ = false;
    bool blocked_ = false;  // the socket is full
};

using session_handle = std::shared_ptr<replication_session>;

/// A temporary slot with its snapshot, and the connection that both live as long as.
struct snapshot_session {
    lsn consistent_point;
    std::function<void(const error&)> on_lost;
    bool client_there = true;
    bool server_there = true;
};

using snapshot_handle = std::shared_ptr<snapshot_session>;

class slot_server {
public:
    slot_server(world& where, const profile& how, database& source, checker& watch);

    /// Asks for a session; the answer comes later.
    void connect(replication_events events, std::function<void(result<session_handle>)> answer);
    /// The same for a temporary slot with a snapshot, which takes the lasting one's place: there is
    /// none, or it is dropped.
    void connect_snapshot(bool replace, std::function<void(const error&)> on_lost,
                          std::function<void(result<snapshot_handle>)> answer);
    /// Makes the slot begin where the temporary one does.
    [[nodiscard]] result<void> adopt(const snapshot_session& from);
    void close(const snapshot_handle& session);
    [[nodiscard]] bool exists() const { return exists_; }
    /// Somebody ends its session and drops it.
    void drop();
    /// Somebody moves it to the end of the WAL or to less; only where nobody streams from it.
    void advance(bool under_a_relay);
    /// The WAL has grown.
    void on_wal();
    void cut();
    void crash();
    void checkpoint();
    /// It is made again with the other plugin, at the place where it stands
    /// (pg_copy_logical_replication_slot).
    void change_plugin();
    /// A standby copies the slot (slotsync.c, or a person who copies its file).
    void copy();
    /// The database is now that standby.
    void promote();
    /// A copy is made of the whole disk.
    void copy_disk();
    /// The database is now one of those copies; a standby of it, where that is `promoted`.
    void restore(bool promoted);
    [[nodiscard]] bool is_held_by(const session_handle& session) const {
        return session && session == session_;
    }
    [[nodiscard]] lsn confirmed() const { return confirmed_; }
    /// Where it can go back to.
    [[nodiscard]] lsn least() const;
    /// Where it began, as walrelay.slot_start has it.
    [[nodiscard]] lsn slot_began() const { return began_; }
    /// It has taken the place of another one, or was made behind rows of a snapshot.
    [[nodiscard]] bool goes_on() const { return goes_on_; }
    [[nodiscard]] bool is_streaming() const { return session_ != nullptr; }

private:
    friend class replication_session;

    result<session_handle> begin(replication_events events);
    result<snapshot_handle> begin_snapshot(bool replace, std::function<void(const error&)> on_lost);
    void end_snapshot();
    void pump(const session_handle& session);
    bool prepare_transaction(replication_session& session);
    void put(const session_handle& session, std::string frame);
    void keepalive(const session_handle& session, bool reply_requested);
    void watch_time(const session_handle& session);
    void status_arrived(const session_handle& session, const std::string& update);
    void client_gone(const session_handle& session, bool in_order);
    void end(session_handle session, const char* why);
    [[nodiscard]] session_handle handle_of(const replication_session& session) const;
    [[nodiscard]] sim_time latency();

    world& world_;
    const profile& profile_;
    database& source_;
    checker& checker_;
    session_handle session_;
    snapshot_handle snapshot_;
    bool exists_;
    output_plugin plugin_;
    lsn confirmed_;
    lsn on_disk_;
    lsn copied_;
    lsn began_;
    bool goes_on_ = false;
    struct disk {
        lsn slot;
        lsn wal_end;
        lineage line;
    };
    std::vector<disk> disks_;
};

}  // namespace walrelay::sim
