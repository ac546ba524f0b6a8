// Scripts for the relay machine: events in, and the actions they lead to as short lines of text.
#pragma once

#include "relay/machine/relay_machine.hpp"
#include "unit/relay/frame_builder.hpp"
#include "unit/relay/proved_control.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace walrelay::test {

/// An action as "publish 1@10", "connect_broker", "status 0/70", "log ...".
[[nodiscard]] std::string describe(const relay::action& wanted);

/// A relay machine between two scripted servers. Time moves only when the script says so.
class relay_script {
public:
    explicit relay_script(relay::lane_options window = {4, 1000, std::chrono::seconds(5)});

    /// `options` for all that is not scripted.
    explicit relay_script(relay::relay_options options);

    // Events. Each returns the actions that follow, without log lines.
    std::vector<std::string> start();
    /// `tail` is the greatest position in the stream; `straggler` came behind it.
    std::vector<std::string> broker_connects(std::uint64_t last_sequence,
                                             std::optional<commit_position> tail = {},
                                             std::optional<commit_position> straggler = {});
    std::vector<std::string> leader_moves();
    std::vector<std::string> broker_fails(errc code = errc::broker_lost);
    std::vector<std::string> postgres_connects() { return postgres_connects_with(origin); }
    std::vector<std::string> postgres_connects_with(history whose, lsn slot_confirmed = {});
    /// What every session from now on brings along.
    std::vector<position> dead_letters;
    std::string control_secret = test::control_secret;
    bool on_standby = false;
    /// Every mark is written at once.
    bool answers_marks = true;
    /// The stream has all that it acked whenever it is asked.
    bool answers_questions = true;
    /// What the broker takes from now on.
    std::uint64_t max_payload_bytes = std::uint64_t{1} << 20U;
    std::int32_t max_message_bytes = -1;
    std::chrono::nanoseconds duplicate_window = std::chrono::minutes(2);
    /// What a look at the stream shows from now on.
    bool shared = false;
    std::uint64_t safe_sequence = 0;
    /// Of another server than this one.
    std::optional<history> tail_origin;
    std::vector<placed_message> placed;
    bool placed_is_whole = false;
    std::vector<recent_message> recent;
    /// What limits have left of the stream, from now on.
    std::uint64_t first_sequence = 1;
    std::optional<wall_time> first_stored;
    /// What every session from now on asks for.
    std::optional<relay::roll> newest_rows;
    std::optional<error> newest_rows_unread;
    bool goes_on_without = false;
    /// Of every session from now on.
    witness_reading witness;
    std::vector<std::string> witness_is_stored(const result<std::optional<std::uint64_t>>& version);
    std::vector<std::string> replayed(const result<replay_place>& place);
    /// With a slot that begins at `consistent_point`, and rows to publish before it.
    std::vector<std::string> postgres_connects_with_rows(lsn consistent_point,
                                                         std::uint64_t stream_sequence);
    /// A row that was there before the slot; not given where it is not wanted.
    std::vector<std::string> old_row(const std::string& id, const std::string& kind = "kind");
    std::vector<std::string> rows_end();
    std::vector<std::string> slot_is_adopted();
    /// What the halt's `finish` says of its cause; nothing before it, or where it has none.
    [[nodiscard]] const std::optional<error>& halted_for() const { return halted_for_; }
    /// Where `answers_marks` or `answers_questions` is false.
    std::vector<std::string> stream_answers(std::uint64_t last_sequence);
    std::vector<std::string> stream_is_marked(const result<std::optional<std::uint64_t>>& done);
    std::vector<std::string> stored_is_read(std::shared_ptr<const relay::stored_rows> rows);
    std::vector<std::string> postgres_fails(errc code = errc::postgres_lost);
    std::vector<std::string> postgres_finishes();
    std::vector<std::string> halt_is_stored();
    std::vector<std::string> dead_letter_is_stored();
    [[nodiscard]] bool hears_new_rows() { return machine_.hear_new_rows(postgres_epoch_); }
    std::vector<std::string> new_rows_are_called(const relay::roll& of);
    /// For the connection of which the last look_for_rows was.
    std::vector<std::string> rows_are_missing(const std::vector<std::string>& ids);
    std::vector<std::string> rows_are_left_out(const result<void>& kept);
    std::vector<std::string> dead_letter_fails(errc code);
    std::vector<std::string> rows_are_written_back();
    std::vector<std::string> write_back_fails(errc code);
    /// What "read_message" has found.
    std::vector<std::string> message_is_read(const result<asked_message>& found);
    std::vector<std::string> blocker_is_found(relay::waiting_write what,
                                              const result<std::string>& who);
    std::vector<std::string> table_is_seen(const result<table_sight>& seen);
    std::vector<std::string> row_is_fetched(std::optional<relay::table_row> row);
    /// A keepalive comes twice, as from a server that is asked to repeat it.
    std::vector<std::string> frame(const std::string& bytes);
    std::vector<std::string> single_frame(const std::string& bytes);
    /// Not all of the next one.
    std::vector<std::string> part_of_frame();
    std::vector<std::string> acks(std::uint64_t count = 1);
    /// Of what is in flight, what was handed over last is the first to be stored.
    std::vector<std::string> acks_last(std::uint64_t sequence);
    std::vector<std::string> reply(relay::publish_outcome outcome);
    std::vector<std::string> passes(std::chrono::milliseconds time);
    std::vector<std::string> stops();
    /// Until it has room again, nothing is handed over.
    void connection_is_full() { is_full_ = true; }
    std::vector<std::string> connection_has_room();

    /// A transaction with one event for each id; frames that are not wanted are not given.
    std::vector<std::string> transaction(std::uint64_t commit, const std::vector<std::string>& ids);

    [[nodiscard]] relay::relay_machine& machine() { return machine_; }
    [[nodiscard]] const std::vector<std::string>& log_lines() const { return log_lines_; }
    /// Those of the level warning.
    [[nodiscard]] const std::vector<std::string>& warnings() const { return warnings_; }
    /// The rules in the marks that were to be written.
    [[nodiscard]] const std::vector<std::string>& marks() const { return marks_; }
    /// The rules that the last of them is a step to.
    [[nodiscard]] const std::string& mark_to_be() const { return mark_to_be_.rules; }
    /// The last one that was to be written, as a description.
    [[nodiscard]] const std::string& written_mark() const { return written_mark_; }
    [[nodiscard]] std::uint64_t disordered_after() const { return mark_to_be_.disordered_after; }
    [[nodiscard]] std::optional<std::uint64_t> disordered_until() const {
        return mark_to_be_.disordered_until;
    }
    /// The last dead letter that was to be stored.
    [[nodiscard]] const dead_letter& letter() const { return letter_; }
    /// Of the last read_stored: see stored_rows_request.
    [[nodiscard]] bool stream_may_have_holes() const { return has_holes_; }
    [[nodiscard]] lsn rules_hold_since() const { return mark_to_be_.since; }
    [[nodiscard]] std::size_t log_count() const { return log_lines_.size(); }
    [[nodiscard]] std::string last_log() const {
        return log_lines_.empty() ? "" : log_lines_.back();
    }
    /// Position of the last status update that was sent.
    [[nodiscard]] std::optional<lsn> reported() const { return reported_; }

    static constexpr history origin{7, 1};
    /// So much time that the stream is asked after each whether it has what it acked.
    static constexpr std::chrono::milliseconds between_replies{50};

    // What the servers say of themselves.
    std::string description = "walrelay slot=slot database=app system=7 timeline=1";
    std::string final_id;
    std::optional<asked_message> asked;
    lsn wal_end{~0ULL};
    std::vector<timeline_end> ancestors;

private:
    std::vector<std::string> collect();
    [[nodiscard]] std::optional<relay::action> next_action();
    void note(const relay::action& wanted);
    [[nodiscard]] instant now() const { return {time_, {}}; }

    relay::relay_machine machine_;
    monotonic_time time_;
    bool is_full_ = false;
    std::uint64_t broker_epoch_ = 0;
    std::uint64_t postgres_epoch_ = 0;
    std::vector<relay::outgoing> in_flight_;
    std::vector<std::string> log_lines_;
    std::vector<std::string> warnings_;
    std::vector<std::string> marks_;
    relay::stream_owner mark_to_be_;
    std::string written_mark_;
    bool has_holes_ = false;
    dead_letter letter_;
    std::uint64_t looking_epoch_ = 0;
    std::optional<lsn> reported_;
    std::optional<error> halted_for_;
};

}  // namespace walrelay::test
