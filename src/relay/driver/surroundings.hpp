// What the driver needs of the world: a clock with a timer and a log, the broker, the database. The
// program implements them with Asio (app/), the simulation with models (tests/sim).
//
// None of these calls waits. What takes time is reported to the driver later, by the method that
// the action's comment in relay/machine/action.hpp names; a failure as well.
#pragma once

#include "core/error.hpp"
#include "core/instant.hpp"
#include "preflight/preflight.hpp"
#include "relay/intake/frame_read.hpp"
#include "relay/machine/action.hpp"
#include "relay/machine/postgres_session.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace walrelay::relay {

/// The process that the relay lives in.
class host {
public:
    virtual ~host() = default;

    [[nodiscard]] virtual instant now() = 0;
    /// Calls relay_driver::time_passed at this time, and not at the one that was asked for before.
    virtual void wake_at(monotonic_time when) = 0;
    virtual void write(const write_log& line) = 0;
    /// The relay is at its end. It still exists, and does nothing more.
    virtual void end(const finish& how) = 0;

protected:
    host() = default;
    host(const host&) = default;
    host& operator=(const host&) = default;
};

/// What earlier connections have shown, for a new one to the broker.
struct known_of_stream {
    /// It was there a moment ago; where it is missing now, an operator must know.
    bool was_there = false;
    /// Whose rows go into it; nothing until PostgreSQL was reached.
    std::optional<stream_owner> owner = {};
};

/// The connection to the broker, one at a time, and what is asked of the stream besides.
class broker_side {
public:
    virtual ~broker_side() = default;

    virtual void connect(const connect_broker& wanted, const known_of_stream& known) = 0;
    /// At once; also gives up a connection that is being made.
    virtual void close() = 0;
    /// Hands it to the connection; the content may be gone after the call. Nothing is sent without
    /// a connection.
    [[nodiscard]] virtual result<void> publish(const outgoing& what) = 0;
    /// Enough waits to be sent. When that has changed, relay_driver::settle is to be called.
    [[nodiscard]] virtual bool is_full() = 0;
    /// What was handed over may go out now.
    virtual void flush() = 0;
    virtual void ask_stream() = 0;
    virtual void read_message(const relay::read_message& wanted) = 0;
    /// `description` is the stream's, as it was seen last.
    virtual void mark_stream(relay::mark_stream wanted, const std::string& description) = 0;
    virtual void read_stored(relay::read_stored wanted) = 0;

protected:
    broker_side() = default;
    broker_side(const broker_side&) = default;
    broker_side& operator=(const broker_side&) = default;
};

/// What earlier connections have shown, for a new one to PostgreSQL.
struct known_before {
    /// See preflight::postgres_findings.
    std::optional<preflight::earlier_run> earlier = {};
    /// See preflight::choose_backfill.
    bool gap = false;
    /// The stream's, which may say that it is another's.
    std::string description = {};
    /// When the stream's last message was stored; nothing where it has shown none of walrelay's.
    std::optional<wall_time> last_stored = {};
    newest_rows_wanted newest_rows = {};
};

/// The connection to PostgreSQL, one at a time, and what is asked and written beside the stream.
class database_side {
public:
    virtual ~database_side() = default;

    virtual void connect(const connect_postgres& wanted, known_before known) = 0;
    /// At once, silently to the server; also gives up a connection that is being made, and
    /// whatever is under way for it.
    virtual void close() = 0;
    /// Ends the stream in good order; from now on nothing is reported but that this is done.
    virtual void finish() = 0;
    virtual void send(const send_status& status) = 0;
    /// Frames, or rows of a backfill, are wanted (again).
    virtual void resume_reading() = 0;
    virtual void adopt_slot(const relay::adopt_slot& wanted) = 0;
    virtual void store_witness(relay::store_witness wanted) = 0;
    virtual void store_dead_letters(relay::store_dead_letters wanted) = 0;
    virtual void look_for_rows(relay::look_for_rows wanted) = 0;
    virtual void leave_out(relay::leave_out wanted) = 0;
    virtual void write_back(relay::write_back wanted) = 0;
    virtual void fetch_row(relay::fetch_row wanted) = 0;
    virtual void look_at_table(relay::look_at_table wanted) = 0;
    virtual void find_blocker(const relay::find_blocker& wanted) = 0;
    virtual void ask_replayed(const relay::ask_replayed& wanted) = 0;
    virtual void store_halt(relay::store_halt wanted) = 0;

protected:
    database_side() = default;
    database_side(const database_side&) = default;
    database_side& operator=(const database_side&) = default;
};

/// Frames of the replication stream that have arrived.
class frame_source : public frame_owner {
public:
    /// The next one, which lives until the next call; nothing where none is here. Errors: of the
    /// connection.
    [[nodiscard]] virtual result<std::optional<std::string_view>> next_frame() = 0;
    /// After next_frame() gave nothing: whether a part of the next one has come. A source that only
    /// knows whole frames says no.
    [[nodiscard]] virtual bool has_part_of_frame() const { return false; }
};

/// A row of a backfill. The views live until the next one is asked for.
struct backfill_row {
    std::size_t table = 0;  // of the configuration
    row_insert content;
    /// The stream has it; it is only to be written back.
    bool published = false;
};

/// Rows of a backfill that have been fetched.
class row_source {
public:
    virtual ~row_source() = default;
    /// Nothing where another piece has to be fetched.
    [[nodiscard]] virtual std::optional<backfill_row> next_row() = 0;

protected:
    row_source() = default;
    row_source(const row_source&) = default;
    row_source& operator=(const row_source&) = default;
};

}  // namespace walrelay::relay
