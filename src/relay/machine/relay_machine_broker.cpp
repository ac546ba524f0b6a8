// The relay machine's events of the broker: connections, the stream's tail, replies.

#include "core/assert.hpp"
#include "core/joined.hpp"
#include "core/progress.hpp"
#include "relay/intake/size_limits.hpp"
#include "relay/machine/relay_machine.hpp"
#include "relay/machine/relay_words.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace walrelay::relay {
namespace {

/// Met while the stream was to be made.
bool is_of_postgres(errc code) {
    return code == errc::postgres_unavailable || code == errc::postgres_refused ||
           code == errc::postgres_lost || code == errc::postgres_unsuitable;
}

error has_vanished(const std::string& stream) {
    return {errc::broker_lost, "stream " + stream + " vanished while it was looked at"};
}

std::optional<error> unusable(const broker_facts& facts, const std::string& stream) {
    return facts.stream ? leaves_no_room(facts, stream) : has_vanished(stream);
}

error slot_lacks_some(std::string what) {
    what += ", and the slot was advanced past some of them";
    error gap;
    gap.code = errc::gap_found;
    gap.what = std::move(what);
    gap.remedy = how_to_close_loss();
    return gap;
}

/// The sequence of the last message that is none of walrelay's, among those that were looked at.
std::uint64_t last_stranger(const stream_facts& facts) {
    auto sequence = facts.last_sequence;
    for (auto each = facts.placed.rbegin();
         each != facts.placed.rend() && each->sequence == sequence; ++each) {
        --sequence;
    }
    return sequence;
}

/// Whether walrelay's messages stand after somebody else's that came after a disorder, or can: of
/// those that were under way at once, some stand before the first that was looked at.
bool has_passed_strangers(const stream_facts& facts, std::uint64_t disordered_until,
                          std::size_t window) {
    if (!facts.shared || facts.placed.empty() || last_stranger(facts) <= disordered_until) {
        return false;
    }
    const auto in_front = std::ranges::count_if(
        facts.placed, [&](const auto& each) { return each.sequence <= facts.safe_sequence; });
    const bool shows_all = facts.placed.front().sequence == 1;
    return facts.placed.back().sequence > facts.safe_sequence ||
           (!shows_all && std::cmp_less(in_front, window));
}

std::string strangers_report(const stream_facts& facts, bool among_own) {
    if (!among_own) {
        return "; what stands before walrelay's first message there is somebody else's";
    }
    return "; somebody else has written among its last messages, although nats.sole_writer is "
           "true: what is after " +
           (facts.safe_position ? "position " + to_string(*facts.safe_position)
                                : std::string("the first of them")) +
           " is sent again unless the slot has confirmed it, and recognised by Nats-Msg-Id; allow "
           "only walrelay's user to publish on the stream's subjects";
}

}  // namespace

void relay_machine::broker_connected(std::uint64_t epoch, const broker_facts& facts, instant now) {
    if (epoch != broker_.epoch() || !broker_.is_connecting() || is_closing()) {
        return;
    }
    if (const auto why = unusable(facts, options_.stream)) {
        lose_broker(*why, now);
        return;
    }
    auto tail = tail_of(*facts.stream);
    tail.made_again = seen_.was_made_again(facts.stream->created);
    if (doubts(tail, *facts.stream, now)) {
        return;
    }
    broker_.connected(now.monotonic);
    watch_.catching_up().broker_is_back(is_reading_paused());
    watch_.catching_up().stored(confirm_.of_read().acked());
    const bool takes_less =
        intake_.set_limits({facts.max_payload_bytes, facts.stream->max_message_bytes}) &&
        !lane_->empty();
    if (takes_less && !backfilling_.is_open()) {
        // Read again, what is too large now becomes a dead letter.
        lane_->start_over();
    }
    const stream_loss loss{lane_->known_sequence(), lane_->reused_sequence()};
    const auto memory = open_lane(epoch, *facts.stream, tail, takes_less, now);
    if (memory == stream_memory::forgot) {
        stream_forgot(loss, tail, now);
    }
    if (is_closing()) {
        return;
    }
    if (backfilling_.is_open() && (takes_less || !backfill_holds(tail))) {
        start_backfill_over(takes_less ? "it takes smaller messages than before"
                                       : "somebody else has written to it",
                            now);
        return;
    }
    if (startup_check_.asks_too_much()) {
        startup_check_.forget();
        stream_from_the_slot_again(now);
    }
    if (takes_less || lane_->belief() == tail_belief::undecided) {
        // Only a fresh connection to PostgreSQL tells how much of it can be believed.
        stream_from_the_slot_again(now);
    }
    settle_question(*facts.stream, now);
    if (lane_->is_open()) {
        go_on_with_broker(now);
    }
}

void relay_machine::go_on_with_broker(instant now) {
    believe(now);
    if (!lane_->is_open() || is_closing()) {
        return;
    }
    account_for_stored(now);
    if (startup_check_.is_to_look_again() && postgres_.is_up()) {
        look_for_missing();
    }
    keep_mark_true();
    write_mark();  // one that could not be written while the broker was away
    if (life_.is_running() && postgres_.is_idle()) {
        actions_.emplace_back(connect_postgres{postgres_.connect(), backfilling_.fills_gap()});
    }
}

stream_memory relay_machine::open_lane(std::uint64_t epoch, const stream_facts& facts,
                                       stream_tail tail, bool was_emptied, instant now) {
    confirm_.held().thaw(now.monotonic, postgres_.is_up());
    // More than this relay has sent: another one's, perhaps in the place of what was lost since.
    if (facts.last_sequence > lane_->known_sequence() + lane_->unacked_count()) {
        confirm_.held().wait_again(now.monotonic);
    }
    constexpr auto nowhere = std::numeric_limits<std::uint64_t>::max();
    seen_.seen(facts.created);
    const auto shown = own_mark(facts.description, options_.slot, known_.name());
    checkpoint_.stream_seen(facts, late_rows_of(shown));
    mark_.seen(shown);
    const auto& mark = mark_.known();
    const auto disordered_until = mark ? mark->disordered_until.value_or(nowhere) : 0;
    startup_check_.stream_has(facts.recent, of_other_rules(facts), known_.line());
    startup_check_.stream_may_lack_before(may_lack_before(facts, lane_->wanted_look_back()));
    startup_check_.stream_begins(begins_at(facts));
    if (comparing_.end()) {
        lane_->end_resuming(tail_belief::undecided);
    }
    tail.mixed = lane_->is_mixed(facts, disordered_until);
    // Also without a checkpoint, where the mark says that rows are to be compared.
    const bool compares =
        mark && facts.message_count > 0 && (is_shared(*mark) || is_being_compared(*mark));
    const bool is_judged = options_.lane.sole_writer && (tail.checkpoint() || compares);
    const auto how = backfilling_.is_open() ? tail_belief::exact
                     : is_judged            ? tail_belief::undecided
                                            : tail_belief::nothing;
    const auto memory = lane_->open(epoch, tail, how);
    confirm_.proof().shown(stored_claim());
    if (memory == stream_memory::forgot) {
        confirm_.held().forget_messages({facts.last_sequence, facts.final_position});
        intake_.forget_stored();
    }
    // What was on its way and is not in memory any more can be stored later, and come after
    // something that this server did not show yet. Somebody else's message can have the place of a
    // row: others' can push it out of view before the row is sent again.
    if (tail.mixed || was_emptied ||
        (options_.lane.sole_writer &&
         has_passed_strangers(facts, disordered_until, options_.lane.window_messages))) {
        remember_disorder();
    }
    tell_of_tail(facts);
    return memory;
}

template <name_literal Event>
void relay_machine::log_tail(const stream_facts& facts, std::string text) {
    const bool has_place = options_.lane.sole_writer && facts.last_position;
    log<Event>(
        std::move(text), with<"stream">(options_.stream), with<"sequence">(facts.last_sequence),
        with<"position">(has_place ? std::optional(to_string(*facts.last_position)) : std::nullopt),
        with<"messages">(lane_->size()));
}

void relay_machine::tell_of_tail(const stream_facts& facts) {
    if (!options_.lane.sole_writer || !facts.shared) {
        log_tail<"broker_connected">(facts, tail_report(facts));
        return;
    }
    const auto stranger = last_stranger(facts);
    const bool is_new = seen_.tells_of_stranger(stranger);
    // Those that were there before walrelay, a poller's for one, call for nothing.
    const bool is_among_own =
        facts.placed.empty() ? facts.last_position.has_value() || lane_->known_tail().has_value()
                             : facts.placed.front().sequence < stranger;
    auto text = tail_report(facts) + (is_new ? strangers_report(facts, is_among_own) : "");
    if (is_new && is_among_own) {
        log_tail<"strangers_in_stream">(facts, std::move(text));
    } else {
        log_tail<"broker_connected">(facts, std::move(text));
    }
}

std::string relay_machine::tail_report(const stream_facts& facts) const {
    std::string text = "connected to the broker: stream " + options_.stream;
    if (facts.last_sequence == 0) {
        text += " is empty";
    } else if (!options_.lane.sole_writer) {
        text += " ends with sequence " + std::to_string(facts.last_sequence);
    } else if (facts.last_position) {
        text += " ends with sequence " + std::to_string(facts.last_sequence) + ", position " +
                to_string(*facts.last_position);
    } else {
        text += " ends with sequence " + std::to_string(facts.last_sequence) +
                ", which holds no position of walrelay's: rows that were published before are "
                "recognised by Nats-Msg-Id alone, within the stream's duplicate window";
    }
    if (!lane_->empty()) {
        text += "; sending " + counted(lane_->size(), "message") + " again";
    }
    return text;
}

bool relay_machine::doubts(const stream_tail& tail, const stream_facts& facts, instant now) {
    const bool is_missed = lane_->has_forgotten(tail) && !lane_->reused_sequence();
    if (!checkpoint_.doubts(facts, {is_missed, tail.made_again, backfilling_.is_open()},
                            now.monotonic)) {
        return false;
    }
    const auto known = std::max(lane_->known_sequence(), checkpoint_.wanted_sequence());
    lose_broker({errc::broker_lost, "stream " + options_.stream + " ends with sequence " +
                                        std::to_string(tail.last_sequence) +
                                        ", but it has acked up to sequence " +
                                        std::to_string(known) + "; it is looked at again"},
                now, outlook::in_doubt);
    return true;
}

void relay_machine::stream_forgot(const stream_loss& loss, const stream_tail& tail, instant now) {
    std::string what =
        "stream " + options_.stream +
        " has lost messages that it had acked: it ended with sequence " + std::to_string(loss.had) +
        " and " +
        (loss.reused ? "gave sequence " + std::to_string(*loss.reused) + " to a later message"
                     : "now ends with " + std::to_string(tail.last_sequence)) +
        " (it was made again, or the broker's machine lost unsynced writes)";
    const auto ends_at = loss.reused ? *loss.reused - 1 : tail.last_sequence;
    // While a gap is being filled, the next try finds in the tables what was lost now.
    if (!backfilling_.fills_gap() &&
        !checkpoint_.has_all_told(options_.lane.sole_writer ? tail.last_position : std::nullopt,
                                  ends_at, tail.made_again)) {
        // Nothing of it is confirmed while the halt is being stored.
        confirm_.held().forget_held(std::nullopt);
        if (options_.heals) {
            confirm_.read_anew();
        }
        if (!options_.heals || life_.is_running()) {
            slot_has_gap(slot_lacks_some(what), now);
        }
        return;
    }
    confirm_.read_anew();
    startup_check_.stream_forgot();
    // What is still there has waited already: a broker that fails again and again holds back no
    // more of the slot than what it can lose.
    const auto& ends = tail.last_position;
    const bool is_kept = options_.lane.sole_writer && ends && known_.shares(*ends);
    confirm_.held().forget_held(is_kept ? std::optional(ends->at) : std::nullopt);
    log<"acked_messages_lost">(what + "; " +
                                   (is_kept ? "the slot has all of them and sends them again"
                                            : "what the slot still has of them is sent again; fix: "
                                              "walrelay verify lists rows that are missing"),
                               with<"stream">(options_.stream),
                               with<"sequence">(tail.last_sequence));
    stream_from_the_slot_again(now);
}

connect_broker relay_machine::to_broker(std::uint64_t epoch) {
    return {epoch, lane_->wanted_look_back(), refusals_.take_step_down(),
            refusals_.asked_of() ? refusals_.asked_of()->sequence : checkpoint_.wanted_sequence()};
}

void relay_machine::broker_failed(std::uint64_t epoch, const error& why, instant now) {
    if (epoch != broker_.epoch() || !(broker_.is_connecting() || broker_.is_up())) {
        return;
    }
    lose_broker(why, now);
}

void relay_machine::leader_moved(std::uint64_t epoch, const std::string& server) {
    if (epoch != broker_.epoch() || !is_at_rest()) {
        return;
    }
    log<"leader_followed">("server " + server + " leads stream " + options_.stream +
                               " now: connecting to it, with nothing on its way",
                           with<"stream">(options_.stream), with<"server">(server));
    connect_broker_anew();
}

void relay_machine::connect_broker_anew() {
    lane_->close();
    checkpoint_.stream_lost();
    confirm_.forget_questions();
    actions_.emplace_back(close_broker{});
    actions_.emplace_back(to_broker(broker_.replace()));
}

void relay_machine::lose_broker(const error& why, instant now, outlook then) {
    lane_->close();
    checkpoint_.stream_lost();
    confirm_.broker_lost(now.monotonic);
    actions_.emplace_back(close_broker{});
    // Once it has been of use, it is being replaced.
    const bool is_replaced = why.code == errc::file_unusable && seen_.is_known();
    if (operator_needed(why) && !is_replaced) {
        broker_.shut();
        halt(why, now);
        return;
    }
    const auto delay = broker_.lost(now.monotonic);
    if (is_of_postgres(why.code)) {
        // A stream is made only where the database shows that none was there before.
        watch_.broker_waits_for_postgres(why);
        log<"postgres_lost">(clause_of(to_string(why)) + "; trying again in " +
                                 seconds_text(delay) + ": stream " + options_.stream +
                                 " is not created before PostgreSQL is there",
                             with<"error">(why.code), with<"retry_seconds">(delay));
        close_when_drained(now);
        return;
    }
    watch_.broker_lost(why);
    log<"broker_lost">(
        clause_of(to_string(why)) + "; trying again in " + seconds_text(delay) +
            (then == outlook::in_doubt ? ", which tells whether anything is lost"
             : knows_slot() ? ", nothing is lost: " + counted(lane_->size(), "unacked message") +
                                  " in memory, the rest in the slot"
                            : ""),
        with<"error">(why.code), with<"retry_seconds">(delay), with<"messages">(lane_->size()));
    close_when_drained(now);
}

void relay_machine::reply_arrived(publish_token token, const publish_outcome& outcome,
                                  instant now) {
    watch_.reply(*lane_, token, outcome, now);
    const auto verdict = lane_->on_reply(token, outcome, now.monotonic);
    if (verdict != lane_verdict::carry_on) {
        reply_failed(verdict, outcome, now);
        return;
    }
    account_for_stored(now);
    watch_.reading_is_paused(is_window_full(), now);
    if (outcome.kind == outcome_class::stored) {
        refusals_.one_was_stored();
        broker_.progressed();
    }
    broker_.answered();
}

void relay_machine::reply_failed(lane_verdict verdict, const publish_outcome& outcome,
                                 instant now) {
    if (verdict == lane_verdict::message_refused) {
        broker_.answered();
        message_was_refused(now);
    } else if (verdict == lane_verdict::id_is_taken) {
        ask_whose_it_is();
    } else if (!outcome.other_stream.empty()) {
        lose_broker(is_another_stream(outcome, options_.stream), now);
    } else if (verdict == lane_verdict::stream_unsuitable) {
        lose_broker({errc::broker_unsuitable,
                     "stream " + options_.stream + " does not take messages as it is set up",
                     "run walrelay check, which names what to change", lane_->last_trouble()},
                    now);
    } else if (outcome.kind == outcome_class::transient) {
        lose_broker(
            {errc::broker_unavailable,
             "the broker takes no messages for stream " + options_.stream + " at the moment",
             what_ends_it(outcome.error_code, outcome.server_said), lane_->last_trouble()},
            now);
    } else if (outcome.id_is_taken && refusals_.is_stuck()) {
        lose_stuck_broker(now);
    } else {
        lose_broker(
            {errc::broker_lost,
             "it is in doubt what stream " + options_.stream + " holds; its tail is read again", "",
             lane_->last_trouble()},
            now, lane_->reused_sequence() ? outlook::in_doubt : outlook::well);
    }
}

void relay_machine::lose_stuck_broker(instant now) {
    constexpr std::chrono::milliseconds soon{200};
    lose_broker({errc::broker_lost,
                 "the server that leads stream " + options_.stream +
                     " keeps the ids of publishes that failed, and does not take their messages "
                     "any more; it is asked to hand over to another one",
                 "", lane_->last_trouble()},
                now);
    refusals_.want_step_down();
    broker_.wait(now.monotonic, soon);
}

}  // namespace walrelay::relay
