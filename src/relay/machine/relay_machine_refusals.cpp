// The relay machine's messages that the broker refuses. As long as both servers are there, none of
// them costs a connection: its row is set aside where it stands, and the next one follows.

#include "relay/machine/relay_machine.hpp"
#include "relay/machine/relay_words.hpp"

#include <utility>

namespace walrelay::relay {
namespace {

error id_is_taken(const std::string& stream, const std::string& id, std::uint64_t sequence) {
    return {errc::message_refused,
            "stream " + stream + " already has this Nats-Msg-Id (" + id + ") at sequence " +
                std::to_string(sequence) + ", in a message that is not of this row",
            "give every row an id of its own (outbox.message_id); the row itself cannot be changed "
            "any more"};
}

/// That of the default duplicate window. What is remembered for longer becomes a dead letter, so
/// that the rows behind it do not wait.
constexpr std::chrono::minutes longest_wait_for_id{2};

/// It is gone, or has neither id nor position, so that it is not why an id is taken.
bool is_no_message(const asked_message& found) {
    return !found.where && found.id.empty();
}

}  // namespace

void relay_machine::ask_whose_it_is() {
    const message& refused = lane_->refused_message();
    const auto sequence = lane_->taken_at();
    const bool is_the_first = refusals_.asked_of() == nullptr;
    refusals_.ask_of({refused.where, refused.id, sequence, lane_->knows_by_id(sequence)});
    if (is_the_first) {
        ask_of_next();
    }
}

void relay_machine::ask_of_next() {
    if (const auto* const next = refusals_.asked_of()) {
        actions_.emplace_back(read_message{broker_.epoch(), next->sequence});
    }
}

void relay_machine::message_read(std::uint64_t epoch, const result<asked_message>& found,
                                 instant now) {
    const auto* const asked = refusals_.asked_of();
    if (epoch == broker_.epoch() && broker_.is_up() && checkpoint_.is_asking() && !is_closing() &&
        (found ? checkpoint_.is_asking_for(found->sequence) : !asked)) {
        witnessed_message_read(found, now);
        return;
    }
    if (epoch != broker_.epoch() || !broker_.is_up() || asked == nullptr || is_closing() ||
        (found && found->sequence != asked->sequence)) {
        return;
    }
    const bool is_there = found && !is_no_message(*found);
    // Another message has come to stand there since, on a server that lacks the one that was meant.
    const bool is_replaced = is_there && !found->id.empty() && found->id != asked->id;
    if (found && asked->by_id && is_there && !is_replaced) {
        settle_by_id(*found, now);
        return;
    }
    // A row of a snapshot is sent because nothing was there: it waits for the broker to forget.
    if (found && asked->by_id && !is_there && !is_of_a_snapshot(asked->where.at)) {
        refusals_.ask_now(taken_id::question::where_it_ends);
        ask_where_it_ends(now);
        return;
    }
    if (!is_there || (is_replaced && asked->by_id) || is_of(*found, *asked) ||
        !lane_->holds(asked->where)) {
        // Its own, perhaps, so that the stream's end was told by a server that did not know it.
        look_whose_it_is(found, now);
        return;
    }
    const auto of = refusals_.take_question();
    ask_of_next();
    lane_->refuse(of.where, of.sequence);
    message_was_refused(now);
}

/// A message can have been removed, or be lost with the stream's end: then the row is in no message
/// at all. The answer to an earlier question can be older than that it was gone.
void relay_machine::ask_where_it_ends(instant now) {
    if (!confirm_.asked_at()) {
        refusals_.ask_now(taken_id::question::end_is_asked);
        confirm_.asked(stored_claim(), lane_->known_sequence(), now.monotonic);
        actions_.emplace_back(ask_stream{});
    }
}

void relay_machine::settle_what_is_gone(std::uint64_t last_sequence, instant now) {
    const auto* const asked = refusals_.asked_of();
    if (asked == nullptr || asked->open == taken_id::question::whose_message) {
        return;
    }
    if (asked->open == taken_id::question::where_it_ends) {
        ask_where_it_ends(now);
    } else if (last_sequence < asked->sequence) {
        look_whose_it_is(asked_message{asked->sequence}, now);
    } else {
        settle_by_id(asked_message{asked->sequence}, now);
    }
}

/// The message that has the id of a row that is sent again, as the broker says: its own from an
/// earlier time, unless it is of a branch that was left. What is gone from there was the row's too.
/// Of a row of a snapshot no message but its own was there.
void relay_machine::settle_by_id(const asked_message& found, instant now) {
    const auto asked = refusals_.take_question();
    ask_of_next();
    if (!lane_->holds(asked.where)) {
        return;
    }
    const auto& line = known_.line();
    // Of a timeline that is no ancestor nobody knows where it began: what it had from before is
    // known by its place.
    const bool is_from_before = found.where && !line.includes(found.where->origin.timeline) &&
                                found.where->at == asked.where.at;
    const bool is_anothers = found.where && line.has_left(*found.where) && !is_from_before;
    if (is_anothers || (is_of_a_snapshot(asked.where.at) && !is_of(found, asked))) {
        lane_->refuse(asked.where, asked.sequence);
        message_was_refused(now);
        return;
    }
    lane_->settle_asked(asked.where);
    account_for_stored(now);
}

/// At its place, or where a gap was healed with it.
bool relay_machine::is_of(const asked_message& found, const taken_id& asked) const {
    if (!found.where || !known_.shares(*found.where)) {
        return false;
    }
    const auto& row = asked.where.at;
    // Where the database can have been restored, others can have the id and the LSNs now.
    const bool was_healed = can_stand_for(found.where->at, row) && found.id == asked.id &&
                            !known_.accepts(known_.line());
    return found.where->at == row || was_healed;
}

void relay_machine::look_whose_it_is(const result<asked_message>& found, instant now) {
    const auto& asked = *refusals_.asked_of();
    lose_broker({errc::broker_lost,
                 "stream " + options_.stream + " has the id of row id " + asked.id +
                     " at sequence " + std::to_string(asked.sequence) +
                     " already; that message and the stream's tail are read",
                 "", found ? lane_->last_trouble() : to_string(found.error())},
                now);
    broker_.wait(now.monotonic, std::chrono::milliseconds(0));
}

void relay_machine::settle_question(const stream_facts& facts, instant now) {
    const auto& answer = facts.asked;
    if (refusals_.asked_of() == nullptr) {
        return;
    }
    const auto asked = refusals_.take_question();
    refusals_.drop_questions();
    const bool is_asked_anew = asked.by_id && !is_of_a_snapshot(asked.where.at);
    if (is_asked_anew || !answer || answer->sequence != asked.sequence) {
        return;
    }
    const auto window =
        std::chrono::duration_cast<std::chrono::milliseconds>(facts.duplicate_window);
    if (is_no_message(*answer) && window <= longest_wait_for_id) {
        lose_broker({errc::broker_lost,
                     "stream " + options_.stream + " has lost the message with the id of row id " +
                         asked.id + ", which it had at sequence " + std::to_string(asked.sequence) +
                         ", and refuses it as a duplicate until its duplicate window of " +
                         seconds_text(window) + " is over"},
                    now);
        return;
    }
    const bool same = is_of(*answer, asked);
    if (!lane_->holds(asked.where)) {
        // The slot sends the row again, and would have it ask the same again.
        if (same) {
            intake_.keep_stored(asked.where.at);
            lane_->distrust_tail();
        } else if (options_.dead_letters && known_.shares(asked.where)) {
            intake_.condemn(asked.where.at,
                            {id_is_taken(options_.stream, asked.id, asked.sequence), 0, 1});
        }
        return;
    }
    if (same) {
        log<"own_message_found">("the message of row id " + asked.id + " is in stream " +
                                     options_.stream + " already, at sequence " +
                                     std::to_string(asked.sequence) + ": it is this row's own",
                                 with<"stream">(options_.stream), with<"sequence">(asked.sequence),
                                 with<"id">(asked.id));
        lane_->settle_stored(asked.where);
        return;
    }
    lane_->refuse(asked.where, asked.sequence);
    message_was_refused(now);
}

error relay_machine::refusal_of(const message& refused) const {
    if (lane_->refusal().kind == outcome_class::duplicate) {
        return id_is_taken(options_.stream, refused.id, lane_->taken_at());
    }
    return {errc::message_refused,
            "stream " + options_.stream + " refuses the message of row id " + refused.id +
                " (position " + to_string(refused.where) + ", subject " + refused.subject + ")",
            "raise the limit that is named; the row itself cannot be changed any more",
            lane_->last_trouble()};
}

void relay_machine::message_was_refused(instant now) {
    const message& refused = lane_->refused_message();
    const position where = refused.where;
    auto why = refusal_of(refused);
    const auto attempts = refusals_.count(where.at);
    // That an id is taken is certain; other refusals may be of a limit that is being changed.
    const bool certain = lane_->refusal().kind == outcome_class::duplicate;
    if (!certain && attempts < options_.max_attempts) {
        lane_->offer_again();
        return;
    }
    refusals_.forget(where.at);
    if (!options_.dead_letters || !known_.shares(where)) {
        lose_broker(why, now);
        return;
    }
    const condemnation reason{why, lane_->refusal().error_code, attempts};
    if (broker_.is_up() && postgres_.is_up() && !life_.has_ended() &&
        lane_->refused_row().is_kept()) {
        set_refused_aside(reason, now);
        return;
    }
    if (backfilling_.is_open()) {
        intake_.condemn_row(refused.id, reason);
    } else {
        intake_.condemn(where.at, reason);
    }
    why.code = errc::broker_lost;
    why.what += "; it becomes a dead letter when the slot sends its row again";
    lose_broker(why, now);
    broker_.wait(now.monotonic, std::chrono::milliseconds(0));
    if (!backfilling_.is_open()) {
        lane_->start_over();
    }
    stream_from_the_slot_again(now);
    if (life_.is_draining()) {
        close_postgres_in_order(now);
    }
}

void relay_machine::set_refused_aside(const condemnation& reason, instant now) {
    const message& refused = lane_->refused_message();
    const auto where = refused.where.at;
    const auto before = lane_->published_before_refused();
    if (backfilling_.is_open()) {
        intake_.condemn_row(refused.id, reason);  // where that begins again
    }
    letters_.add(intake_.set_aside(refused, lane_->refused_row(), reason, before));
    confirm_.of_read().set_aside(where, before);
    write_backs_.rows().leave(where);
    lane_->set_refused_aside();
    store_next_letters(now);
}

}  // namespace walrelay::relay
