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
      intake_(std::move(mappers),
              {options_.stream, options_.dead_letters, options_.lane.sole_writer, options_.duties,
               options_.slot, options_.max_row_bytes}),
      watch_(intake_.received().size()),
      lane_(lane::make(options_.lane)),
      write_backs_(wants_write_backs(options_.duties), options_.backoff, seed + 2),
      hold_back_(options_.confirm_delay),
      broker_(options_.backoff, seed),
      postgres_(options_.backoff, seed + 1),
      checkpoint_(options_.slot, options_.stream),
      letters_(options_.lane.window_bytes),
      startup_check_(options_.slot, options_.stream) {}

void relay_machine::start() {
    actions_.emplace_back(to_broker(broker_.connect()));
}

void relay_machine::account_for_stored(instant now) {
    const auto stored = stored_up_to();
    ask_for_what_is_held(now);
    if (const auto settled = write_backs_.rows().settled(stored)) {
        ledger_.stored_up_to(*settled);
    }
    end_comparing_when_over();
    write_back_what_is_stored(now);
    watch_.catching_up().stored(ledger_.acked());
    if (const auto& newest = proof_.newest()) {
        checkpoint_.message_stored(*newest);
    }
    hold_back_.acked(ledger_.acked(), ledger_.acked_event(), proof_.newest(), now.monotonic);
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
    if (drain_until_ && *drain_until_ <= now.monotonic && phase_ == phase::draining) {
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
    if (const auto due = feedback_.deadline();
        due && *due <= now.monotonic && postgres_.is_up() && phase_ != phase::closing) {
        actions_.emplace_back(send_status{feedback_.take(now)});
    }
}

void relay_machine::confirm_what_was_held(instant now) {
    const auto due = question_deadline();
    const bool is_due = due && *due <= now.monotonic;
    if (is_due && hold_back_.asked_at()) {
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
    if (due && *due <= now.monotonic && lane_->is_open() && !hold_back_.asked_at()) {
        hold_back_.asked(lane_->known_sequence(), now.monotonic);
        proof_.asked(stored_claim(), now.monotonic);
        actions_.emplace_back(ask_stream{});
    }
}

std::optional<commit_position> relay_machine::stored_up_to() {
    return proof_.stored_of(lane_->stored_up_to(), lane_->newest_stored(), lane_->stored_count());
}

stored_proof::claim relay_machine::stored_claim() const {
    return {lane_->stored_up_to(), lane_->newest_stored(), lane_->stored_count()};
}

void relay_machine::stream_answered(std::uint64_t epoch, const result<std::uint64_t>& last_sequence,
                                    instant now) {
    if (epoch != broker_.epoch() || !broker_.is_up() || is_closing() || !hold_back_.asked_at()) {
        return;
    }
    if (!last_sequence) {
        auto why = last_sequence.error();
        why.what = "stream " + options_.stream + " does not say what it ends with";
        lose_broker(why, now);
        return;
    }
    if (*last_sequence < hold_back_.asked_for()) {
        lose_broker({errc::broker_lost,
                     "stream " + options_.stream + " ends with sequence " +
                         std::to_string(*last_sequence) + ", but it has acked up to sequence " +
                         std::to_string(hold_back_.asked_for()) + "; it is looked at again"},
                    now, outlook::in_doubt);
        return;
    }
    hold_back_.answered();
    proof_.answered();
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
        keeper.offer(options_.stream, stream_created_, hold_back_.confirmed_message(),
                     confirmable(), server_.line.origin);
        slot_.begins_at(slot_confirmed_);
        slot_.told(keeper.may_tell());
        feedback_.confirmed(keeper.may_tell(), now.monotonic);
    }
    write_witness(now);
}

lsn relay_machine::confirmable() const {
    return std::min(hold_back_.confirmed(), std::max(ledger_.acked(), slot_confirmed_));
}

lsn relay_machine::confirmed() const {
    return std::max(checkpoint_.keeper().may_tell(), slot_confirmed_);
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
    if (due(postgres_) && phase_ == phase::running) {
        actions_.emplace_back(connect_postgres{postgres_.connect(), backfilling_.fills_gap()});
    }
}

void relay_machine::stop_requested(instant now) {
    if (phase_ == phase::running) {
        log<"stopping">("stopping: waiting for the acks of " + counted(lane_->size(), "message"),
                        with<"messages">(lane_->size()));
        drain(exit_done, now);
    } else if (phase_ == phase::draining) {
        close_postgres_in_order(now);
    }
}

void relay_machine::drain(int exit_code, instant now) {
    phase_ = phase::draining;
    exit_code_ = exit_code;
    drain_until_ = now.monotonic + options_.drain_timeout;
    // What is owed before the end is not left to the next event of a quiet server.
    write_witness(now);
    close_when_drained(now);
}

void relay_machine::close_when_drained(instant now) {
    if (phase_ == phase::draining && is_drained()) {
        close_postgres_in_order(now);
    }
}

void relay_machine::close_postgres_in_order(instant now) {
    phase_ = phase::closing;
    drain_until_.reset();
    if (!postgres_.is_up()) {
        if (postgres_.is_connecting()) {
            actions_.emplace_back(close_postgres{});
        }
        end();
        return;
    }
    actions_.emplace_back(send_status{feedback_.take(now)});
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
    exit_code_ = exit_operator_needed;
    halt_.note(why);
    if (why.code == errc::gap_found) {
        phase_ = phase::closing;
        drain_until_.reset();
        halt_.storing();
        actions_.emplace_back(store_halt{why.what, why.remedy});
        return;
    }
    close_postgres_in_order(now);
}

void relay_machine::halt_stored(instant now) {
    if (halt_.stored()) {
        close_postgres_in_order(now);
    }
}

void relay_machine::end() {
    if (phase_ == phase::ended) {
        return;
    }
    phase_ = phase::ended;
    if (!broker_.is_idle()) {
        actions_.emplace_back(close_broker{});
    }
    sum_letters_up();
    log<"stopped">(
        "stopped: " + counted(lane_->stored_count(), "message") + " stored, slot " + options_.slot +
            (knows_slot() ? " confirmed up to " + to_string(confirmed()) : " not read"),
        with<"messages">(lane_->stored_count()), with<"slot">(options_.slot),
        with<"lsn">(knows_slot() ? std::optional(to_string(confirmed())) : std::nullopt));
    actions_.emplace_back(finish{exit_code_, halt_.why()});
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
    consider(drain_until_);
    if (phase_ == phase::running) {
        consider(postgres_.retry_at());
    }
    if (phase_ != phase::closing) {
        consider(write_backs_.retry_at());
        consider(write_backs_.stall().deadline());
        consider(letters_.stall().deadline());
        consider(question_deadline());
        consider(broker_.retry_at());
        consider(feedback_.deadline());
        consider(letters_.summary_due());
    }
    if (keeps_witness()) {
        consider(checkpoint_.keeper().deadline());
    }
    return phase_ == phase::ended ? std::nullopt : earliest;
}

std::optional<monotonic_time> relay_machine::question_deadline() const {
    if (!broker_.is_up() || is_closing()) {
        return std::nullopt;
    }
    const auto& asked_at = hold_back_.asked_at();
    if (!asked_at) {
        const auto held = hold_back_.deadline();
        const auto acked = proof_.deadline();
        return held && acked ? std::min(*held, *acked) : held ? held : acked;
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
