// Obeys the relay machine: turns its actions into calls of the surroundings, and what these report
// into its events. The one place that does so; the program and the simulation differ in what they
// pass in. Decides nothing, and knows neither a socket nor a clock.
#pragma once

#include "relay/driver/connection_memory.hpp"
#include "relay/driver/surroundings.hpp"
#include "relay/machine/relay_machine.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace walrelay::relay {

class relay_driver {
public:
    /// The surroundings must outlive it, and may call it from within each other's calls.
    relay_driver(relay_options options, std::vector<outbox::table_mapper> mappers,
                 std::uint64_t seed, host& process, broker_side& broker, database_side& database);

    /// Before `start`: goes on without the rows that are missing now.
    void go_on_without_missing() { machine_.go_on_without_missing(); }
    /// Before `start`: goes on with the database that is there, whatever the stream says of its
    /// history.
    void accept_history() { machine_.accept_history(); }

    /// Before `start`: a relay before this one has counted these.
    void go_on_counting(const relay_counts& earlier) { machine_.go_on_counting(earlier); }

    /// Before `start`; it must outlive this.
    void tell_of_acks(ack_observer& observer) { machine_.tell_of_acks(observer); }

    void start();
    /// Drain, confirm, end.
    void stop();
    void time_passed();
    /// Takes actions until there are none. Every event that is reported does this; replies of the
    /// broker and frames do it once for all that came together.
    void settle();

    // The broker's side.

    /// False where nobody wants this connection any more: it is to be closed silently.
    [[nodiscard]] bool wants_broker(std::uint64_t epoch) const { return epoch == broker_epoch_; }
    /// See relay_machine.
    [[nodiscard]] bool is_at_rest() const { return machine_.is_at_rest(); }
    void broker_connected(std::uint64_t epoch, const broker_facts& facts);
    void broker_failed(std::uint64_t epoch, const error& why);
    /// See relay_machine.
    void leader_moved(std::uint64_t epoch, const std::string& server);
    /// Settles nothing: replies_ended does, after all that one read of the socket has brought.
    void reply_arrived(publish_token token, const publish_outcome& outcome);
    void replies_ended();
    void stream_answered(std::uint64_t epoch, const result<std::uint64_t>& last_sequence);
    void message_read(std::uint64_t epoch, const result<asked_message>& found);
    /// The description as it is now, and what relay_machine::stream_marked takes.
    void stream_marked(std::string description, std::optional<std::uint64_t> last_sequence);
    void stream_not_marked(const error& why);
    void stored_read(std::uint64_t epoch, const result<std::shared_ptr<const stored_rows>>& rows);

    // PostgreSQL's side.

    /// As wants_broker.
    [[nodiscard]] bool wants_postgres(std::uint64_t epoch) const {
        return epoch == postgres_epoch_;
    }
    /// `owner` is of the stream that its rows go into.
    void postgres_connected(std::uint64_t epoch, postgres_session session,
                            std::optional<stream_owner> owner);
    void postgres_failed(std::uint64_t epoch, const error& why);
    void postgres_finished();
    void slot_adopted(std::uint64_t epoch);

    enum class reading {
        /// All that is here is read: wait until there is more, and before that for
        /// `rest_from_reading`.
        dry,
        /// Nothing is wanted until `resume_reading`.
        unwanted,
    };
    /// Hands over the frames that are here, as far as they are wanted. Errors: of the connection,
    /// for postgres_failed.
    [[nodiscard]] result<reading> read_frames(frame_source& from);
    [[nodiscard]] std::chrono::microseconds rest_from_reading() {
        return machine_.rest_from_reading();
    }
    [[nodiscard]] reading read_rows(row_source& from);
    void rows_ended();

    void witness_stored(std::uint64_t epoch, const result<std::optional<std::uint64_t>>& version);
    void dead_letters_stored(std::uint64_t epoch, const result<void>& done);
    /// See relay_machine.
    [[nodiscard]] bool hear_new_rows(std::uint64_t epoch);
    [[nodiscard]] std::optional<wall_time> oldest_awaited_row() const;
    [[nodiscard]] std::optional<std::size_t> new_rows_heard() const;
    void new_rows_called(std::uint64_t epoch, const roll& asked);
    void rows_looked_for(std::uint64_t epoch, const result<std::vector<roll_row>>& missing);
    void rows_left_out(const result<void>& kept);
    void written_back(std::uint64_t epoch, const result<void>& done);
    void row_fetched(std::uint64_t epoch, result<std::optional<table_row>> row);
    void table_looked_at(std::uint64_t epoch, const result<table_sight>& seen);
    void blocker_found(std::uint64_t epoch, waiting_write what, const result<std::string>& who);
    void replayed(std::uint64_t epoch, const result<replay_place>& place);
    void halt_stored();

    [[nodiscard]] const relay_machine& machine() const { return machine_; }

private:
    [[nodiscard]] std::optional<action> next_action(monotonic_time started);
    void obey(action& wanted);
    void publish_or_fail(const outgoing& what);
    void end(const finish& how);
    void arm_timer();
    [[nodiscard]] instant now() { return host_.now(); }

    relay_machine machine_;
    host& host_;
    broker_side& broker_;
    database_side& database_;
    connection_memory memory_;
    std::uint64_t broker_epoch_ = 0;    // 0 while none is wanted
    std::uint64_t postgres_epoch_ = 0;  // 0 while none is wanted
    /// Of the replies that one read brought: a clock is asked once for all of them.
    std::optional<instant> replies_came_at_;
    std::optional<monotonic_time> armed_for_;
    bool settling_ = false;
    bool ended_ = false;
};

}  // namespace walrelay::relay
