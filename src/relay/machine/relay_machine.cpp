#include "relay/machine/relay_machine.hpp"

#include "core/progress.hpp"
#include "relay/machine/relay_words.hpp"

#include <algorithm>
#include <utility>

namespace walrelay::relay {
namespace {

bool wants_write_backs(const all_duties& duties) {
    return std::any_of(duties.begin(), duties.end(),
                       [](const table_duties& each) { return each.writes_back; });
}

}  // namespace

relay_machine::relay_machine(relay_options options, std::vector<outbox::table_mapper> mappers,
                             std::uint64_t seed)
    : options_(std::move(options)),
      life_(options_.drain_timeout),
      broker_(options_.backoff, seed),
      postgres_(options_.backoff, seed + 1),
      known_(options_.accepts_history),
      intake_(std::move(mappers),
              {options_.stream, options_.dead_letters, options_.lane.sole_writer, options_.duties,
               options_.slot, options_.max_row_bytes}),
      lane_(lane::make(options_.lane)),
      checkpoint_(options_.slot, options_.stream),
      startup_check_(options_.slot, options_.stream),
      confirm_(options_.confirm_delay),
      write_backs_(wants_write_backs(options_.duties), options_.backoff, seed + 2),
      letters_(options_.lane.window_bytes),
      watch_(intake_.received().size()) {}

void relay_machine::start() {
    actions_.emplace_back(to_broker(broker_.connect()));
}

void relay_machine::account_for_stored(instant now) {
    const auto stored = stored_up_to();
    ask_for_what_is_held(now);
    if (const auto settled = write_backs_.rows().settled(stored)) {
        confirm_.of_read().stored_up_to(*settled);
    }
    end_comparing_when_over();
    write_back_what_is_stored(now);
    watch_.catching_up().stored(confirm_.of_read().acked());
    if (const auto& newest = confirm_.newest_stored()) {
        checkpoint_.message_stored(*newest);
    }
    confirm_.hold(now.monotonic);
    report_confirmed(now);
    close_when_drained(now);
}

void relay_machine::time_passed(instant now) {
    watch_.reading_is_paused(is_reading_paused(), now);
    if (const auto lost = lane_->ack_deadline(); lost && *lost <= now.monotonic) {
        lose_broker({errc::broker_lost, "the broker has not acked a message within " +
                                            seconds_text(options_.lane.ack_timeout) +
                                            " (delivery.ack_timeout)"},
                    now);
    }
    if (const auto until = life_.drain_until(); until && *until <= now.monotonic) {
        log<"stop_incomplete">(
            counted(lane_->size(), "message") + " not acked" +
                (write_backs_.rows().empty()
                     ? ""
                     : " and " + counted(write_backs_.rows().size(), "row") + " not written back") +
                " within " + seconds_text(options_.drain_timeout) +
                (knows_slot() ? "; nothing is lost: the next start sends them again from the slot"
                              : "; the next start looks for them again"),
            with<"messages">(lane_->size()), with<"rows">(write_backs_.rows().size()),
            with<"seconds">(options_.drain_timeout));
        close_postgres_in_order(now);
    }
    retry_links(now);
    if (write_backs_.retry(now.monotonic)) {
        write_back_what_is_stored(now);
    }
    ask_for_blockers(now);
    if (const auto due = letters_.summary_due(); due && *due <= now.monotonic) {
        sum_letters_up();
    }
    confirm_what_was_held(now);
    if (const auto due = confirm_.reports().deadline();
        due && *due <= now.monotonic && postgres_.is_up() && !life_.is_closing()) {
        actions_.emplace_back(send_status{confirm_.reports().take(now)});
    }
}

void relay_machine::confirm_what_was_held(instant now) {
    const auto due = question_deadline();
    const bool is_due = due && *due <= now.monotonic;
    if (is_due && confirm_.asked_at()) {
        lose_broker({errc::broker_lost, "stream " + options_.stream + " has not said within " +
                                            seconds_text(options_.lane.ack_timeout) +
                                            " (delivery.ack_timeout) what it ends with"},
                    now);
    } else if (is_due) {
        ask_for_what_is_held(now);
    }
    report_confirmed(now);
}

void relay_machine::ask_for_what_is_held(instant now) {
    const auto due = question_deadline();
    if (due && *due <= now.monotonic && lane_->is_open() && !confirm_.asked_at()) {
        confirm_.asked(stored_claim(), lane_->known_sequence(), now.monotonic);
        actions_.emplace_back(ask_stream{});
    }
}

std::optional<commit_position> relay_machine::stored_up_to() {
    return confirm_.proof().stored_of(lane_->stored_up_to(), lane_->newest_stored(),
                                      lane_->stored_count());
}

stored_proof::claim relay_machine::stored_claim() const {
    return {lane_->stored_up_to(), lane_->newest_stored(), lane_->stored_count()};
}

void relay_machine::stream_answered(std::uint64_t epoch, const result<std::uint64_t>& last_sequence,
                                    instant now) {
    if (epoch != broker_.epoch() || !broker_.is_up() || is_closing() || !confirm_.asked_at()) {
        return;
    }
    if (!last_sequence) {
        auto why = last_sequence.error();
        why.what = "stream " + options_.stream + " does not say what it ends with";
        lose_broker(why, now);
        return;
    }
    if (*last_sequence < confirm_.asked_for()) {
        lose_broker({errc::broker_lost,
                     "stream " + options_.stream + " ends with sequence " +
                         std::to_string(*last_sequence) + ", but it has acked up to sequence " +
                         std::to_string(confirm_.asked_for()) + "; it is looked at again"},
                    now, outlook::in_doubt);
        return;
    }
    confirm_.answered();
    // Before anything else is asked, whose answer would be waited for again.
    settle_what_is_gone(*last_sequence, now);
    account_for_stored(now);
}

void relay_machine::report_confirmed(instant now) {
    if (backfilling_.is_open()) {
        adopt_if_stored(now);
        return;
    }
    if (checkpoint_.now_is() == checkpoint::state::unknown) {
        // What the stream's tail is taken for has been decided meanwhile.
        believe(now);
    }
    // While the description holds for other rules, the next start would miss the rows that these
    // leave out.
    const bool may_tell = !lane_->claim() && !mark_.is_stale() && checkpoint_.may_tell();
    if (postgres_.is_up() && may_tell) {
        auto& keeper = checkpoint_.keeper();
        keeper.offer(options_.stream, seen_.created(), confirm_.held().confirmed_message(),
                     confirm_.confirmable(known_.slot_confirmed()), known_.line().origin);
        checkpoint_.place().begins_at(known_.slot_confirmed());
        checkpoint_.place().told(keeper.may_tell());
        confirm_.reports().confirmed(keeper.may_tell(), now.monotonic);
    }
    write_witness(now);
}

lsn relay_machine::confirmed() const {
    return std::max(checkpoint_.keeper().may_tell(), known_.slot_confirmed());
}

void relay_machine::retry_links(instant now) {
    const auto due = [&](const link& which) {
        return which.retry_at() && *which.retry_at() <= now.monotonic;
    };
    if (is_closing()) {
        return;
    }
    if (due(broker_)) {
        actions_.emplace_back(to_broker(broker_.connect()));
    }
    if (due(postgres_) && life_.is_running()) {
        actions_.emplace_back(connect_postgres{postgres_.connect(), backfilling_.fills_gap()});
    }
}

void relay_machine::stop_requested(instant now) {
    if (life_.is_running()) {
        log<"stopping">("stopping: waiting for the acks of " + counted(lane_->size(), "message"),
                        with<"messages">(lane_->size()));
        drain(exit_done, now);
    } else if (life_.is_draining()) {
        close_postgres_in_order(now);
    }
}

void relay_machine::drain(int exit_code, instant now) {
    life_.drain(exit_code, now.monotonic);
    // What is owed before the end is not left to the next event of a quiet server.
    write_witness(now);
    close_when_drained(now);
}

void relay_machine::close_when_drained(instant now) {
    if (life_.is_draining() && is_drained()) {
        close_postgres_in_order(now);
    }
}

void relay_machine::close_postgres_in_order(instant now) {
    life_.close();
    if (!postgres_.is_up()) {
        if (postgres_.is_connecting()) {
            actions_.emplace_back(close_postgres{});
        }
        end();
        return;
    }
    actions_.emplace_back(send_status{confirm_.reports().take(now)});
    actions_.emplace_back(finish_postgres{});
}

void relay_machine::halt(const error& why, instant now) {
    if (is_closing()) {
        return;
    }
    const bool at_a_gap = why.code == errc::gap_found || why.code == errc::halted;
    log<"halted">(
        to_string(why) + (at_a_gap ? ". Halted: no relay of this slot goes on until it is resumed"
                                   : ". Stopped; nothing was confirmed that is not in the stream"),
        with<"error">(why.code));
    life_.note_halt(why, exit_operator_needed);
    if (why.code == errc::gap_found) {
        life_.close();
        life_.store_halt();
        actions_.emplace_back(store_halt{why.what, why.remedy});
        return;
    }
    close_postgres_in_order(now);
}

void relay_machine::halt_stored(instant now) {
    if (life_.halt_is_stored()) {
        close_postgres_in_order(now);
    }
}

void relay_machine::end() {
    if (life_.has_ended()) {
        return;
    }
    life_.end();
    if (!broker_.is_idle()) {
        actions_.emplace_back(close_broker{});
    }
    sum_letters_up();
    log<"stopped">(
        "stopped: " + counted(lane_->stored_count(), "message") + " stored, slot " + options_.slot +
            (knows_slot() ? " confirmed up to " + to_string(confirmed()) : " not read"),
        with<"messages">(lane_->stored_count()), with<"slot">(options_.slot),
        with<"lsn">(knows_slot() ? std::optional(to_string(confirmed())) : std::nullopt));
    actions_.emplace_back(finish{life_.exit_code(), life_.halted_for()});
}

bool relay_machine::wants_frames() const {
    return !backfilling_.is_open() && has_room();
}

std::optional<monotonic_time> relay_machine::deadline() const {
    std::optional<monotonic_time> earliest = lane_->ack_deadline();
    const auto consider = [&](std::optional<monotonic_time> candidate) {
        if (candidate && (!earliest || *candidate < *earliest)) {
            earliest = candidate;
        }
    };
    consider(life_.drain_until());
    if (life_.is_running()) {
        consider(postgres_.retry_at());
    }
    if (!life_.is_closing()) {
        consider(write_backs_.retry_at());
        consider(write_backs_.stall().deadline());
        consider(letters_.stall().deadline());
        consider(question_deadline());
        consider(broker_.retry_at());
        consider(confirm_.reports().deadline());
        consider(letters_.summary_due());
    }
    if (keeps_witness()) {
        consider(checkpoint_.keeper().deadline());
    }
    return life_.has_ended() ? std::nullopt : earliest;
}

std::optional<monotonic_time> relay_machine::question_deadline() const {
    if (!broker_.is_up() || is_closing()) {
        return std::nullopt;
    }
    const auto& asked_at = confirm_.asked_at();
    if (!asked_at) {
        return confirm_.question_due();
    }
    // The question may have to wait for many publishes.
    return std::max(*asked_at, lane_->last_ack_at()) + options_.lane.ack_timeout;
}

std::optional<action> relay_machine::next_duty() {
    if (actions_.empty()) {
        return std::nullopt;
    }
    action next = std::move(actions_.front());
    actions_.pop_front();
    return next;
}

std::optional<action> relay_machine::next_action(monotonic_time now) {
    if (auto duty = next_duty()) {
        return duty;
    }
    // While PostgreSQL is away, another server may become the primary, without these rows.
    if (is_closing() || !postgres_.is_up() || mark_.is_stale() ||
        !(backfilling_.is_open() || checkpoint_.may_publish())) {
        return std::nullopt;
    }
    if (const auto sending = lane_->next_to_send(now)) {
        return publish{*sending};
    }
    return std::nullopt;
}

}  // namespace walrelay::relay
