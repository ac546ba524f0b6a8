// The relay's decisions: events in, actions out. Pure: no socket, no clock, no thread.
//
//   broker    idle -> connecting -> up -> (lost: waiting -> connecting ...)
//   postgres  idle -> connecting -> up -> (lost: waiting -> connecting ...), first when the
//             stream's tail is known
//   phase     running -> draining (no more reading, acks are awaited) -> closing (the slot is told)
//             -> ended
//
// After every event the driver takes actions until there are none, and calls `time_passed` when
// `deadline` is reached.
#pragma once

#include "core/facts.hpp"
#include "core/instant.hpp"
#include "core/lineage.hpp"
#include "core/relay_status.hpp"
#include "core/table_sight.hpp"
#include "relay/checkpoint/checkpoint.hpp"
#include "relay/confirm/confirmation.hpp"
#include "relay/confirm/stall_watch.hpp"
#include "relay/confirm/write_backs.hpp"
#include "relay/intake/intake.hpp"
#include "relay/intake/table_duties.hpp"
#include "relay/lane/lane.hpp"
#include "relay/machine/action.hpp"
#include "relay/machine/backfill_progress.hpp"
#include "relay/machine/dead_letter_duty.hpp"
#include "relay/machine/known_database.hpp"
#include "relay/machine/link.hpp"
#include "relay/machine/open_question.hpp"
#include "relay/machine/postgres_session.hpp"
#include "relay/machine/read_pacing.hpp"
#include "relay/machine/refusals.hpp"
#include "relay/machine/relay_life.hpp"
#include "relay/machine/relay_watch.hpp"
#include "relay/machine/startup_check.hpp"
#include "relay/machine/stored_comparison.hpp"
#include "relay/machine/stream_mark.hpp"
#include "relay/machine/stream_sight.hpp"
#include "relay/machine/tail_trust.hpp"
#include "relay/machine/write_back_duty.hpp"

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace walrelay::relay {

struct relay_options {
    std::string slot;
    std::string stream;
    lane_options lane;
    backoff_limits backoff;
    /// How long the slot is held back after the ack.
    std::chrono::milliseconds confirm_delay{0};
    /// Of a message that the broker refuses for itself.
    std::uint32_t max_attempts = 5;
    /// Rows that cannot be delivered are set aside; otherwise they stop the relay.
    bool dead_letters = true;
    /// Of a row; a larger one cannot be delivered.
    std::uint64_t max_row_bytes = std::uint64_t{64} << 20U;
    /// What a slot has lost is published from the tables; otherwise an operator must decide.
    bool heals = false;
    /// How long a stop waits for acks and write-backs that are still out.
    std::chrono::milliseconds drain_timeout{10000};
    all_duties duties = {};
    /// fingerprint_of what is relayed.
    std::string rules = {};
    /// fingerprints_of_ids of what is relayed.
    std::vector<std::string> ids = {};
    /// An operator has said that the database is the right one, whatever its history. Once.
    bool accepts_history = false;
};

class relay_machine {
public:
    relay_machine(relay_options options, std::vector<outbox::table_mapper> mappers,
                  std::uint64_t seed);

    /// Before `start`: see relay_options.
    void go_on_without_missing() { checkpoint_.go_on_without_missing(); }
    void accept_history() { known_.accept_history(); }
    void start();
    void broker_connected(std::uint64_t epoch, const broker_facts& facts, instant now);
    /// The try failed, or the connection ended.
    void broker_failed(std::uint64_t epoch, const error& why, instant now);
    /// The server of that name leads the stream, and the broker is to be connected through it. Does
    /// nothing where something is on its way: see is_at_rest.
    void leader_moved(std::uint64_t epoch, const std::string& server);
    void postgres_connected(std::uint64_t epoch, postgres_session session, instant now);
    void postgres_failed(std::uint64_t epoch, const error& why, instant now);
    void postgres_finished();
    /// The halt is kept, or cannot be.
    void halt_stored(instant now);
    /// The next row of the backfill, of the configuration's table of this index. One that is
    /// `published` is in the stream already and only to be written back.
    void row_arrived(std::size_t table, const row_insert& row, bool published, instant now);
    void rows_ended(instant now);
    void slot_adopted(std::uint64_t epoch, instant now);
    /// The answer to read_message.
    void message_read(std::uint64_t epoch, const result<asked_message>& found, instant now);
    /// The answer to ask_stream: the sequence that the stream ends with.
    void stream_answered(std::uint64_t epoch, const result<std::uint64_t>& last_sequence,
                         instant now);
    /// The answer to mark_stream: what the stream ended with when it was marked, nothing where
    /// nobody had to be asked.
    void stream_marked(const result<std::optional<std::uint64_t>>& done, instant now);
    /// The answer to store_witness: the version of the row; nothing where somebody else has changed
    /// it.
    void witness_stored(std::uint64_t epoch, const result<std::optional<std::uint64_t>>& version,
                        instant now);
    /// What read_stored asked for.
    void stored_read(std::uint64_t epoch, const result<std::shared_ptr<const stored_rows>>& rows,
                     instant now);
    /// `what` is for the log.
    void dead_letters_stored(std::uint64_t epoch, instant now);
    void dead_letters_failed(std::uint64_t epoch, const error& why, instant now);
    /// When the oldest of the rows was made that were seen in the tables and that the slot has
    /// still to bring; nothing where none is awaited.
    [[nodiscard]] std::optional<wall_time> oldest_awaited_row() const {
        return startup_check_.oldest_awaited();
    }
    /// Rows that are committed from now on are to be called later, see startup_check: whether that
    /// is the moment for it.
    [[nodiscard]] bool hear_new_rows(std::uint64_t epoch);
    /// How many have come since; nothing where there were too many, or the connection is another.
    [[nodiscard]] std::optional<std::size_t> new_rows_heard() const {
        return startup_check_.is_hearing() ? std::optional(startup_check_.heard()) : std::nullopt;
    }
    /// Of the rows that were committed since then, some; all of them were before `asked` was made.
    void new_rows_called(std::uint64_t epoch, const roll& asked, instant now);
    /// Which of the rows of look_for_rows are nowhere.
    void rows_looked_for(std::uint64_t epoch, const result<std::vector<roll_row>>& missing,
                         instant now);
    void rows_left_out(const result<void>& kept);
    /// Nothing where the table has no such row any more.
    void row_fetched(std::uint64_t epoch, std::optional<table_row> row, instant now);
    void row_not_fetched(std::uint64_t epoch, const error& why, instant now);
    /// The answer to look_at_table.
    void table_looked_at(std::uint64_t epoch, const result<table_sight>& seen, instant now);
    /// The answer to ask_replayed.
    void replayed(std::uint64_t epoch, const result<replay_place>& place, instant now);
    void written_back(std::uint64_t epoch, instant now);
    void write_back_failed(std::uint64_t epoch, const error& why, instant now);
    /// The answer to find_blocker, in words.
    void blocker_found(std::uint64_t epoch, waiting_write what, const result<std::string>& who,
                       instant now);
    /// `owner` lets go of a frame that is read before this returns.
    void frame_arrived(std::string_view frame, instant now, frame_owner* owner = nullptr);
    /// A part of the next frame is here, and the whole may be more than the memory holds.
    void frame_arrives();
    void reply_arrived(publish_token token, const publish_outcome& outcome, instant now);
    void time_passed(instant now);
    void stop_requested(instant now);

    /// Whether the driver may hand over another frame. While it may not, the socket is not read.
    [[nodiscard]] bool wants_frames() const;
    /// All frames that had arrived were handed over: how long the driver waits before it reads the
    /// socket again. Usually 0.
    [[nodiscard]] std::chrono::microseconds rest_from_reading() { return pacing_.end_turn(); }
    /// As wants_frames, for a row of the backfill.
    [[nodiscard]] bool wants_rows() const;
    /// When `time_passed` is wanted.
    [[nodiscard]] std::optional<monotonic_time> deadline() const;
    [[nodiscard]] std::optional<action> next_action(monotonic_time now);
    /// The same without publishes: for while the connection to the broker has enough to send. What
    /// is not handed over stays in the window, and no time for its ack runs.
    [[nodiscard]] std::optional<action> next_duty();

    [[nodiscard]] const lane& the_lane() const { return *lane_; }
    /// What the slot may be told.
    [[nodiscard]] lsn confirmed() const;
    /// For each of options.ids since when they are those of today; nothing while that is not known.
    [[nodiscard]] std::vector<std::optional<lsn>> ids_hold_since() const;
    /// Whether the stream's mark says so, and not this relay alone.
    [[nodiscard]] bool ids_are_marked() const { return mark_.has_ids_to_go_by(); }
    /// Whether the slot is known to be there: only then it is said what it still has.
    [[nodiscard]] bool knows_slot() const { return known_.slot_confirmed() != lsn{}; }
    /// Belief has begun, and the newest rows are accounted for: what an operator said of the start
    /// is over.
    [[nodiscard]] bool has_begun() const {
        return checkpoint_.was_proved() && !startup_check_.is_due();
    }
    /// For the next connection to PostgreSQL: see newest_rows_wanted.
    [[nodiscard]] newest_rows_wanted wanted_newest_rows() const {
        return {startup_check_.is_due(), checkpoint_.place().at_most(), known_.origin()};
    }
    /// Streaming, with nothing on its way to either server: a connection that is made again now
    /// costs nothing.
    [[nodiscard]] bool is_at_rest() const {
        return life_.is_running() && !life_.halted_for() && broker_.is_up() && postgres_.is_up() &&
               checkpoint_.may_tell() && !backfilling_.is_open() && lane_->empty() && is_settled();
    }
    /// Another consumer holds the slot; this relay takes over when it is let go.
    [[nodiscard]] bool is_standby() const { return checkpoint_.place().is_standby(); }
    [[nodiscard]] std::uint64_t dead_letter_count() const { return letters_.count(); }
    /// Rows whose message is in the window or stored, and which are not written back yet.
    [[nodiscard]] std::size_t awaited_write_backs() const { return write_backs_.rows().size(); }
    /// Before `start`: a relay before this one has counted these.
    void go_on_counting(const relay_counts& earlier) { watch_.go_on_from(earlier); }
    /// Before `start`; it must outlive this.
    void tell_of_acks(ack_observer& observer) { watch_.tell_of_acks(observer); }
    [[nodiscard]] relay_counts counts() const;
    [[nodiscard]] relay_status status(instant now) const;

private:
    [[nodiscard]] relay_state state_at(std::optional<std::chrono::microseconds> lag,
                                       instant now) const;
    /// Nothing where it is not known.
    [[nodiscard]] std::optional<std::chrono::microseconds> lag_at(instant now) const;
    [[nodiscard]] bool is_closing() const { return life_.is_at_end(); }
    /// See log_entry.
    template <name_literal Event, class... Fields>
    void log(std::string text, Fields... fields) {
        log(log_entry::of<Event>(std::move(text), std::move(fields)...));
    }
    void log(log_entry line) { actions_.emplace_back(write_log{std::move(line)}); }
    /// What the log says of the data when the broker is gone.
    enum class outlook { well, in_doubt };
    void lose_broker(const error& why, instant now, outlook then = outlook::well);
    void lose_postgres(const error& why, instant now);
    void stand_by(const error& why, instant now);
    void take_over();
    /// The slot is had, and it is known where it stands.
    struct known_rules {
        bool new_tables = false;
        /// See began_to_relay_after, of the newest rows.
        bool began_late = false;
    };
    void stream_from(postgres_session session, known_rules rules, instant now);
    void read_tail_again();
    void connect_broker_anew();
    /// The action for a new try.
    [[nodiscard]] connect_broker to_broker(std::uint64_t epoch);
    void lose_stuck_broker(instant now);
    /// Goes on with the checkpoint where both sides are connected: the one place where it is
    /// decided that rows may be published and the slot be told.
    void believe(instant now);
    void take_step(checkpoint::step step, instant now);
    void witnessed_message_read(const result<asked_message>& found, instant now);
    /// The last position that the stream has with all before it, as far as that is known.
    [[nodiscard]] std::optional<position> stream_ends_with() const;
    void write_witness(instant now);
    /// Whether some rows that were committed after this were not relayed by the present rules.
    [[nodiscard]] bool began_to_relay_after(lsn where) const;
    void startup_check_is_over(std::size_t missing, instant now);
    /// What is known of earlier connections belongs to the history of `server` now.
    void begin_history(const lineage& line);
    /// Up to where the WAL of the present history must reach at least.
    [[nodiscard]] lsn read_up_to() const;
    /// Why nothing of a server's history may be read.
    [[nodiscard]] std::optional<error> refuses_history_of(const postgres_session& session) const;
    /// Decides what the stream's tail is worth to the server that is connected. Nothing may be
    /// streamed from it where that is false.
    [[nodiscard]] bool joins_history(const postgres_session& session, instant now);
    [[nodiscard]] tail_question question_about(const server_identity& server,
                                               lsn slot_confirmed) const;
    /// The same for the tail of an open lane, once streaming may begin.
    [[nodiscard]] bool trusts_tail(instant now);
    void tell_of_foreign_tail();
    void compare_stored(const tail_answer& answer);
    void read_stored_once_marked();
    void begin_comparing(const std::shared_ptr<const stored_rows>& rows);
    void end_comparing_when_over();
    void give_comparing_up();
    [[nodiscard]] stream_owner mark_now() const;
    [[nodiscard]] std::vector<id_rules> ids_now() const;
    /// Whether the stream was filled under another configuration until now.
    [[nodiscard]] bool has_new_rules() const;
    /// The same, apart from sole_writer.
    [[nodiscard]] bool has_new_tables() const;
    /// Whether the slot sends rows that other tables were configured for when they came.
    [[nodiscard]] bool came_before_the_rules() const;
    /// The last sequence that a row of tables which are not relayed any more can get: what an
    /// earlier relay had on its way when it was killed.
    [[nodiscard]] std::uint64_t last_of_other_rules() const;
    void keep_mark_true();
    /// A later message has passed an earlier one: the next relay must know it, even if by then too
    /// much was written after them to be seen.
    void remember_disorder();
    void change_mark(stream_owner to);
    void write_mark();
    void take_mark_answer(const result<std::optional<std::uint64_t>>& done, instant now);
    [[nodiscard]] bool is_all_that_was_seen(std::uint64_t last_sequence) const;
    /// The mark was written by what a server said that did not know all of the stream.
    void doubt_what_was_seen(std::uint64_t last_sequence, instant now);
    /// On a standby, where the transaction that begins may be of a later timeline.
    void ask_for_timeline();
    /// Rows that are dead letters stay so when the slot sends them again.
    void keep_dead(const std::vector<position>& letters);
    void set_aside(dead_letter letter, instant now);
    void store_next_letters(instant now);
    void sum_letters_up();
    void ask_whose_it_is();
    void ask_of_next();
    void ask_where_it_ends(instant now);
    void settle_what_is_gone(std::uint64_t last_sequence, instant now);
    void settle_by_id(const asked_message& found, instant now);
    /// Whether it is the message of the row at this position.
    [[nodiscard]] bool is_of(const asked_message& found, const taken_id& asked) const;
    void look_whose_it_is(const result<asked_message>& found, instant now);
    void settle_question(const stream_facts& facts, instant now);
    void go_on_with_broker(instant now);
    /// The slot lacks what the stream lacks: heals, or halts.
    void slot_has_gap(const error& why, instant now);
    void note_delivered(const frame_read& read, const std::optional<commit_position>& newest_before,
                        instant now);
    void slot_has_come_to(lsn where, instant now);
    void look_for_missing();
    /// The sequences of the messages that may be from before the present configuration.
    [[nodiscard]] std::vector<std::uint64_t> of_other_rules(const stream_facts& facts) const;
    void begin_backfill(postgres_session session, instant now);
    void adopt_if_stored(instant now);
    void give_backfill_up();
    void start_backfill_over(const std::string& why, instant now);
    [[nodiscard]] bool backfill_holds(const stream_tail& tail) const;
    [[nodiscard]] bool has_room() const;
    /// The reason that comes with every message; cheap.
    [[nodiscard]] bool is_window_full() const { return postgres_.is_up() && !lane_->has_room(); }
    /// For those who watch: something has to end first, be it the window, write-backs that wait for
    /// a lock, or an open question.
    [[nodiscard]] bool is_reading_paused() const {
        return life_.is_running() && postgres_.is_up() && !has_room();
    }
    /// The same, for longer than a question takes that is answered at once.
    [[nodiscard]] bool stands_still(instant now) const {
        return is_reading_paused() && watch_.reading_stands(now);
    }
    void frame_was_read(frame_read& read, const std::optional<commit_position>& newest_before,
                        instant now);
    void tell_of_vanished(const table_name& table);
    void take_frame(frame_read& read, instant now);
    void name_first_transaction();
    void tell_of_sent_again();
    void take_progress(const frame_read& read, instant now);
    void frame_failed(const error& why, instant now);
    void reply_failed(lane_verdict verdict, const publish_outcome& outcome, instant now);
    [[nodiscard]] error refusal_of(const message& refused) const;
    void message_was_refused(instant now);
    void set_refused_aside(const condemnation& reason, instant now);
    void drop_source();
    void stream_from_the_slot_again(instant now);
    bool doubts(const stream_tail& tail, const stream_facts& facts, instant now);
    void stream_forgot(const stream_loss& loss, const stream_tail& tail, instant now);
    void account_for_stored(instant now);
    void write_back_what_is_stored(instant now);
    void ask_for_blockers(instant now);
    [[nodiscard]] std::string stalled_text(waiting_write what) const;
    /// Of what was read before, nothing is still to be written to either server.
    [[nodiscard]] bool is_settled() const {
        // The next start would compare rows for a mark that is written in part.
        const bool writes_mark = broker_.is_up() && mark_.is_on_its_way();
        const bool awaits_proof = postgres_.is_up() && broker_.is_up() && confirm_.awaits_proof();
        return write_backs_.rows().empty() && letters_.empty() && !writes_mark && !awaits_proof;
    }
    /// Nothing is in flight to either server, and the witness says all that is known.
    /// Without PostgreSQL nothing more is sent, only what is in flight may still be acked.
    [[nodiscard]] bool is_drained() const {
        const bool sends_no_more = !postgres_.is_up() && !lane_->ack_deadline();
        const bool owes_witness =
            keeps_witness() && checkpoint_.may_tell() && checkpoint_.keeper().owes(true);
        return (lane_->empty() || sends_no_more) && is_settled() && !owes_witness;
    }
    /// Whether the witness is written when it is due. A relay that ends while the slot of its
    /// backfill is not adopted ends without that slot, and has nothing to say of it.
    [[nodiscard]] bool keeps_witness() const {
        return postgres_.is_up() && !is_closing() &&
               (!life_.is_draining() || !backfilling_.is_open());
    }
    void confirm_what_was_held(instant now);
    void ask_for_what_is_held(instant now);
    [[nodiscard]] stored_proof::claim stored_claim() const;
    /// Every event up to this one is proved to be stored.
    [[nodiscard]] std::optional<commit_position> stored_up_to();
    void close_when_drained(instant now);
    /// When the stream is to be asked, or its answer is overdue.
    [[nodiscard]] std::optional<monotonic_time> question_deadline() const;
    void report_confirmed(instant now);
    void retry_links(instant now);
    void drain(int exit_code, instant now);
    void close_postgres_in_order(instant now);
    void halt(const error& why, instant now);
    void end();
    /// `was_emptied`: what was on its way is not in memory any more.
    stream_memory open_lane(std::uint64_t epoch, const stream_facts& facts, stream_tail tail,
                            bool was_emptied, instant now);
    void tell_of_tail(const stream_facts& facts);
    template <name_literal Event>
    void log_tail(const stream_facts& facts, std::string text);
    [[nodiscard]] std::string tail_report(const stream_facts& facts) const;

    relay_options options_;
    relay_life life_;
    link broker_;
    link postgres_;
    known_database known_;
    stream_sight seen_;
    intake intake_;
    read_pacing pacing_;
    open_question question_;
    std::unique_ptr<lane> lane_;
    stream_mark mark_;
    stored_comparison comparing_;
    checkpoint checkpoint_;
    startup_check startup_check_;
    confirmation confirm_;
    backfill_progress backfilling_;
    write_back_duty write_backs_;
    dead_letter_duty letters_;
    refusals refusals_;
    relay_watch watch_;
    std::deque<action> actions_;
};

}  // namespace walrelay::relay
