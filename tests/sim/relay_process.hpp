// One relay: obeys the relay machine as app/relay_driver.cpp does, with models in place of the
// adapters. The only file of the simulation that knows the machine.
#pragma once

#include "relay/intake/dead_letters.hpp"
#include "relay/machine/relay_machine.hpp"
#include "relay/machine/relay_words.hpp"
#include "sim/broker.hpp"
#include "sim/slot_server.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace walrelay::sim {

/// Defects of a driver that the simulation must notice: proof that it can notice something.
enum class canary {
    none,
    no_expectation,   // the lane forgets Nats-Expected-Last-Sequence
    no_tail,          // the lane sends again without knowing what the stream ends with
    acks_everything,  // every reply counts as an ack
};

struct relay_surroundings {
    world& where;
    const profile& how;
    slot_server& slot;
    broker& the_broker;
    database& source;
    checker& watch;
    /// With which a relay starts.
    const configuration& configured;
    canary defect = canary::none;
};

class relay_process {
public:
    relay_process(relay_surroundings around, std::string name);

    /// Once with --accept-history, or with --skip-roll-call, if that is said.
    void start(bool accepts_history = false, bool skips_roll_call = false);
    /// kill -9.
    void kill();
    /// SIGTERM.
    void stop();
    /// SIGSTOP, and SIGCONT after a while.
    void pause(sim_time span);
    [[nodiscard]] bool is_running() const { return machine_ != nullptr; }
    /// Of the present life, or the last one.
    [[nodiscard]] const configuration& configured() const { return configured_; }
    /// Set when the program has ended by itself since the last start.
    [[nodiscard]] std::optional<int> exit_code() const { return exit_code_; }
    /// In this life.
    [[nodiscard]] bool has_streamed() const { return is_running() && has_streamed_; }
    [[nodiscard]] bool was_told_to_stop() const { return told_to_stop_; }
    [[nodiscard]] const std::string& last_words() const { return last_error_; }
    /// It has ended because of the database's history, with the command that goes on with it.
    [[nodiscard]] bool needs_history_accepted() const {
        return last_error_.find("--accept-history") != std::string::npos;
    }
    /// It has ended because rows are missing.
    [[nodiscard]] bool misses_rows() const {
        return last_error_.find("--skip-roll-call") != std::string::npos;
    }
    [[nodiscard]] bool found_a_gap() const {
        return misses_rows() || last_error_.find("stands at LSN") != std::string::npos;
    }
    [[nodiscard]] bool reported_a_loss() const { return reported_a_loss_; }

private:
    /// Something happens to the process: at once, or when it goes on after a pause. Not at all
    /// where it is of an earlier life.
    void happens(const std::function<void(relay::relay_machine&)>& what, bool settles = true);
    std::function<void()> for_this_life(std::function<void()> what);

    void die();
    void settle();
    [[nodiscard]] std::optional<relay::action> next_action();
    void obey(relay::action& wanted);
    void obey_publish(const relay::outgoing& what);
    void connect_broker(const relay::connect_broker& wanted);
    void broker_answered(std::uint64_t epoch, const result<broker_session>& answer);
    void reply_came(std::uint64_t epoch, std::uint64_t index, const std::string& body);
    void connect_postgres(const relay::connect_postgres& wanted);
    void connect_slot(std::uint64_t epoch);
    void postgres_answered(std::uint64_t epoch, const result<session_handle>& answer);
    void read_message(const relay::read_message& wanted);
    void mark_stream(const relay::stream_owner& owner);
    void read_stored(const relay::read_stored& wanted);
    [[nodiscard]] std::shared_ptr<const relay::stored_rows> stored_in(
        const relay::stored_rows_request& wanted);
    [[nodiscard]] std::optional<relay::roll> newest_rows();
    [[nodiscard]] std::vector<position> letters_to_come() const;
    void look_for_rows(const relay::look_for_rows& wanted);
    void leave_out(const relay::leave_out& wanted);
    void fetch_row(const relay::fetch_row& wanted);
    void look_at_table(const relay::look_at_table& wanted);
    void set_aside(const relay::store_dead_letters& poison);
    [[nodiscard]] bool store(const relay::dead_letters& letters, std::uint64_t server);
    void write_back(const relay::write_back& rows);
    void store_halt(const relay::store_halt& halt);
    void dead_letters_answered(std::uint64_t epoch, bool stored);
    void close_broker();
    void close_postgres();
    void finish_postgres();
    void read_frames();
    // Rows before the slot's; in relay_backfill.cpp.
    void connect_snapshot(std::uint64_t epoch, bool replace);
    void snapshot_answered(std::uint64_t epoch, const result<snapshot_handle>& answer);
    void feed_rows();
    void feed_row(relay::relay_machine& machine);
    void adopt_slot(std::uint64_t epoch);
    void close_snapshot();
    void arm_timer();
    void check_bounds() const;
    void heard(const relay::write_log& line);
    [[nodiscard]] instant now() const { return around_.where.now_for_the_relay(); }

    relay_surroundings around_;
    std::string name_;
    configuration configured_;
    std::uint64_t life_ = 0;
    std::unique_ptr<relay::relay_machine> machine_;
    std::uint64_t broker_epoch_ = 0;    // 0 while none is wanted
    std::uint64_t postgres_epoch_ = 0;  // 0 while none is wanted
    /// Of the last server that the machine was told of.
    std::optional<lineage> joined_;
    std::uint64_t server_ = 0;
    connection_handle broker_;
    std::string description_;
    session_handle postgres_;
    session_handle offered_;
    /// The last one that this process had.
    session_handle earlier_;
    /// A row of the snapshot as the index of the database's event, and whether the stream had it
    /// when it was looked at.
    struct old_row {
        std::size_t event;
        bool published;
    };
    struct backfilling {
        snapshot_handle slot;
        std::vector<old_row> rows = {};
        std::size_t next = 0;
        bool ready = false;
        bool ended = false;
    };
    std::optional<backfilling> backfill_;
    /// For a canary: the sequence that each publish was to get.
    std::map<std::uint64_t, std::uint64_t> predicted_;
    bool finishing_ = false;
    bool settling_ = false;
    std::optional<sim_time> armed_for_;
    sim_time paused_until_{0};
    sim_time full_until_{0};
    std::optional<int> exit_code_;
    bool told_to_stop_ = false;
    bool calls_roll_ = true;
    bool goes_on_without_ = false;
    bool has_streamed_ = false;
    bool reported_a_loss_ = false;
    std::string last_error_;
};

}  // namespace walrelay::sim
