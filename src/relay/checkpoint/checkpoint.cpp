#include "relay/checkpoint/checkpoint.hpp"

#include "relay/checkpoint/gap_words.hpp"

#include <algorithm>

namespace walrelay::relay {
namespace {

error slot_moved(const std::string& slot, lsn stands, lsn known) {
    return {errc::gap_found,
            "slot " + slot + " stands at LSN " + to_string(stands) +
                ", but this relay has confirmed no more than " + to_string(known) +
                ": somebody else has read, advanced or re-created it, and what lies between is "
                "not sent any more",
            how_to_close_a_gap};
}

log_entry loss_line(const std::string& stream, const witness& known, const stream_evidence& seen) {
    return log_entry::of<"acked_messages_lost">(
        "stream " + stream + " has lost messages that it had acked: " + to_text(known) +
            ", and it ends with sequence " + std::to_string(seen.last_sequence) +
            " (it was made again or restored, or the broker's machine lost unsynced writes); the "
            "slot has all of them and sends them again",
        with<"stream">(stream), with<"sequence">(seen.last_sequence));
}

}  // namespace

// Facts.

void checkpoint::stream_seen(const stream_facts& facts, std::optional<disorder> late_rows) {
    seen_ = evidence_of(facts, stream_);
    seen_->late_rows = late_rows;
    decision_.stream_seen();
    asking_.reset();
    state_ = state_ == state::refused ? state_ : state::unknown;
}

bool checkpoint::doubts(const stream_facts& facts, window_sight window, monotonic_time now) {
    using missing = end_doubt::missing;
    const auto seen = evidence_of(facts, stream_);
    doubt_.ends_at(seen.last_sequence);
    if (!window.lacks_some) {
        doubt_.has_all_of_window();
    }
    const auto by_window = !window.lacks_some                        ? missing::nothing
                           : seen.in_a_cluster && !window.made_again ? missing::of_a_cluster
                                                                     : missing::of_one_server;
    const bool is_missed = !window.fills_gap && is_missed_by_witness(seen);
    return doubt_.doubts(end_of(seen), by_window,
                         is_missed ? missing_of_witness(seen) : missing::nothing, now);
}

seen_end checkpoint::end_of(const stream_evidence& seen) const {
    const auto& known = keeper_.known();
    return {holds_slot_ && known ? known->version : 0, seen.created, seen.last_sequence};
}

/// No server lags behind another stream.
end_doubt::missing checkpoint::missing_of_witness(const stream_evidence& seen) const {
    return seen.in_a_cluster && keeper_.known()->created == seen.created
               ? end_doubt::missing::of_a_cluster
               : end_doubt::missing::of_one_server;
}

/// One that is in no database is this process's own, and the window knows as much.
bool checkpoint::is_witness_told() const {
    const auto& known = keeper_.known();
    return holds_slot_ && known && known->version > 0 && !keeper_.is_replacing();
}

bool checkpoint::is_missed_by_witness(const stream_evidence& seen) const {
    // An operator decides on what was doubted long enough to halt for it.
    return is_witness_told() && !decision_.excuses_loss() &&
           judge_stream(*keeper_.known(), seen) == stream_verdict::ends_before;
}

void checkpoint::message_stored(const stored_message& newest) {
    // What was stored over an earlier connection tells nothing of what this one has shown.
    if (!seen_ || newest.sequence <= seen_->last_sequence) {
        return;
    }
    doubt_.ends_at(newest.sequence);
    seen_->last_sequence = newest.sequence;
    seen_->last_where = newest.where;
    // Without a position, what stands there is read where the witness names it.
    seen_->last_is_there = newest.where.has_value();
}

void checkpoint::slot_taken(slot_evidence evidence) {
    decision_.slot_taken(keeper_.is_own(evidence.witness.kept));
    keeper_.begin(evidence.witness, evidence.stands_at);
    taken_ = std::move(evidence);
    holds_slot_ = true;
    proved_with_slot_ = false;
    state_ = state::unknown;
    asking_.reset();
    slot_in_question_ = false;
}

void checkpoint::slot_lost(std::optional<commit_position> last) {
    if (holds_slot_) {
        stood_ = {keeper_.may_tell(), taken_->line.origin};
    }
    // What an unproved session has seen can be another relay's.
    if (holds_slot_ && proved_with_slot_) {
        left_ = {std::max(left_.row, last), taken_->line.origin,
                 keeper_.known() ? keeper_.known()->version : 0};
        // What explained that it stood there is known from here on, and explains nothing any more.
        place_.begins_at(taken_->stands_at);
    }
    keeper_.end();
    holds_slot_ = false;
    state_ = state::unknown;
    asking_.reset();
    slot_in_question_ = false;
}

void checkpoint::stream_lost() {
    seen_.reset();
    asking_.reset();
    state_ = state_ == state::refused ? state_ : state::unknown;
}

void checkpoint::message_read(const asked_message& found) {
    if (seen_ && is_asking_for(found.sequence)) {
        seen_->asked = found;
        asking_.reset();
    }
}

std::uint64_t checkpoint::wanted_sequence() const {
    const auto& known = keeper_.known();
    return holds_slot_ && known && known->version > 0 ? known->sequence : 0;
}

void checkpoint::newest_rows_are_there() {
    slot_in_question_ = false;
    if (taken_) {
        taken_->newest_rows_there = true;
    }
    if (state_ == state::comparing && may_publish()) {
        prove();
    }
}

void checkpoint::prove() {
    state_ = state::proved;
    was_proved_ = true;
    proved_with_slot_ = true;
    slow_readings_ = 0;
    // It was said of what was missing until now.
    decision_.proved();
}

bool checkpoint::may_publish() const {
    const bool is_judged = state_ == state::comparing || state_ == state::proved;
    return is_judged && seen_ && !is_waiting();
}

bool checkpoint::may_tell() const {
    return state_ == state::proved;
}

wall_time checkpoint::stream_created() const {
    return seen_ ? seen_->created : wall_time{};
}

// Judging.

checkpoint::step checkpoint::refuse(step::kind how, error why) {
    state_ = state::refused;
    return {how, 0, std::move(why), {}};
}

checkpoint::step checkpoint::judge(const std::optional<position>& ends, monotonic_time now) {
    if (!seen_ || !holds_slot_) {
        state_ = state::unknown;
        return {};
    }
    state_ = state::comparing;
    auto next = judge_stream_now(ends, now);
    if (next.what != step::kind::none) {
        return next;
    }
    auto line = std::move(next.line);
    next = judge_slot(ends);
    if (!next.line) {
        next.line = std::move(line);
    }
    if (next.what == step::kind::none && !keeper_.is_replacing() && !slot_in_question_) {
        prove();
    }
    return next;
}

checkpoint::step checkpoint::judge_stream_now(const std::optional<position>& ends,
                                              monotonic_time now) {
    if (!is_witness_told()) {
        return {};
    }
    const auto& known = keeper_.known();
    const auto what = judge_stream(*known, *seen_);
    switch (what) {
        case stream_verdict::ask:
            asking_ = known->sequence;
            return {step::kind::read_message, known->sequence, {}, {}};
        case stream_verdict::holds:
            doubt_.has_all_of_witness();
            return {};
        case stream_verdict::holds_elsewhere:
            doubt_.has_all_of_witness();
            if (known->sequence > 0) {
                auto same = *known;
                same.stream = seen_->stream;
                same.created = seen_->created;
                keeper_.replace(std::move(same));
            }
            return {};
        case stream_verdict::ends_before:
        case stream_verdict::overwritten:
        case stream_verdict::another_stream:
            break;
    }
    return has_lost(what, ends, now);
}

bool checkpoint::is_doubted(stream_verdict what, monotonic_time now) {
    if (decision_.excuses_loss()) {
        // An operator decides on what was doubted long enough to halt for it.
        return decision_.waits_for_a_look();
    }
    // What follows can take more than one connection, and each of them looks again.
    return what != stream_verdict::another_stream &&
           doubt_.doubts(end_of(*seen_), end_doubt::missing::nothing, missing_of_witness(*seen_),
                         now);
}

checkpoint::step checkpoint::has_lost(stream_verdict what, const std::optional<position>& ends,
                                      monotonic_time now) {
    const auto known = *keeper_.known();
    if (is_doubted(what, now)) {
        return {step::kind::look_again,
                0,
                error{errc::broker_lost, to_text(known) + ", and it seems to end with sequence " +
                                             std::to_string(seen_->last_sequence) +
                                             "; it is looked at again"},
                {}};
    }
    const bool is_sent_again = what == stream_verdict::ends_before && slot_sends_what_follows(ends);
    if (!is_sent_again && !decision_.excuses_loss()) {
        // What is missing is not published into a stream that may be the wrong one.
        return refuse(what == stream_verdict::another_stream ? step::kind::halt : step::kind::gap,
                      stream_has_lost(known, *seen_, what, slot_));
    }
    auto line = loss_line(stream_, known, *seen_);
    if (!is_sent_again) {
        line = log_entry::of<"given_up">(
            "going on without messages that are lost, as an operator decided: " + to_text(known) +
                ", and stream " + stream_ + " ends with sequence " +
                std::to_string(seen_->last_sequence) + " now",
            with<"stream">(stream_), with<"sequence">(seen_->last_sequence));
    }
    keeper_.replace(as_seen());
    return {step::kind::none, 0, {}, std::move(line)};
}

bool checkpoint::slot_sends_what_follows(const std::optional<position>& ends) const {
    return sends_all_from_its_beginning(ends, taken_->stands_at) ||
           is_sent_again(*keeper_.known(), *seen_, ends, taken_->stands_at, taken_->line);
}

/// A slot that was never told of anything sends all that it ever had to. What the stream has of
/// before, it does not: that is known to be there as long as the stream's end is not before it.
bool checkpoint::sends_all_from_its_beginning(const std::optional<position>& ends,
                                              lsn stands_at) const {
    const auto& began = taken_->began_at;
    return began && stands_at <= *began &&
           (!taken_->has_earlier_rows ||
            (ends && taken_->line.shares(*ends) && ends->at.commit >= before_slot(*began)));
}

witness checkpoint::as_seen() const {
    witness seen;
    seen.stream = seen_->stream;
    seen.created = seen_->created;
    seen.sequence = seen_->last_sequence;
    seen.where = seen_->last_where;
    seen.told = taken_->stands_at;
    seen.origin = taken_->line.origin;
    return seen;
}

checkpoint::step checkpoint::judge_slot(const std::optional<position>& ends) {
    const auto stands = taken_->stands_at;
    const auto& known = keeper_.known();
    const bool is_explained = place_.explains(stands) ||
                              (known && explains_slot(*known, stands, taken_->line)) ||
                              (taken_->began_at && stands <= *taken_->began_at) ||
                              (!known && stream_reaches(ends, stands));
    slot_in_question_ = false;
    if (is_explained || decision_.excuses_loss()) {
        return {};
    }
    if (was_moved() && looked_for_ != stands) {
        looked_for_ = stands;
        return {step::kind::read_tail, 0, {}, {}};
    }
    if (was_moved() && !others_had_it(ends)) {
        return refuse(
            step::kind::gap,
            slot_moved(slot_, stands, std::max(place_.at_most(), stood_.at.value_or(lsn{}))));
    }
    // Idle moves, or somebody who moved it: the tables tell.
    if (are_read_again()) {
        return {step::kind::ask_tables_again, 0, rows_not_read(), {}};
    }
    slot_in_question_ = taken_->newest_rows_known && !taken_->newest_rows_there;
    if (taken_->newest_rows_whole || (!known && !taken_->began_at)) {
        return {};
    }
    return place_unproved();
}

/// Not known is not proved: what is confirmed now would be named by the witness, and nobody could
/// tell any more. What the server cannot read in time it may never read.
bool checkpoint::are_read_again() {
    constexpr int slow_readings_max = 3;
    if (taken_->newest_rows_unread) {
        return true;
    }
    return taken_->newest_rows_slow && slow_readings_++ < slow_readings_max;
}

error checkpoint::rows_not_read() const {
    const auto& why = taken_->newest_rows_unread;
    return {errc::postgres_lost,
            "slot " + slot_ + " stands at LSN " + to_string(taken_->stands_at) +
                ", which this relay cannot account for, and the newest rows of the outbox tables, "
                "which tell whether somebody has moved it, could not be read: " +
                (why ? why->what : "PostgreSQL did not read them within 3 seconds"),
            why ? why->remedy : "", why ? why->server_said : ""};
}

checkpoint::step checkpoint::place_unproved() const {
    const auto& known = keeper_.known();
    step next;
    next.line = log_entry::of<"slot_place_unproved">(
        "slot " + slot_ + " stands at LSN " + to_string(taken_->stands_at) + ", after " +
            (known
                 ? "what walrelay.witness says that it was told (" + to_string(known->told)
                 : "where it began, without a walrelay.witness that says what was stored since (" +
                       to_string(*taken_->began_at)) +
            "), and the newest rows " +
            (taken_->newest_rows_known ? "of some tables" : "of the tables") +
            " could not be compared with the stream (not readable, too many of them, no way to the "
            "newest ones, or the stream need not have their messages): if somebody moved it past "
            "rows of theirs, that is not noticed; fix: walrelay verify lists missing rows",
        with<"slot">(slot_), with<"lsn">(taken_->stands_at));
    return next;
}

/// Of a slot that was never proved, this tells nothing either: rows that it brought after others
/// that it does not bring any more may be in the stream already. So a witness comes first.
bool checkpoint::stream_reaches(const std::optional<position>& ends, lsn place) const {
    return ends && taken_->line.shares(*ends) && place <= ends->at.commit;
}

bool checkpoint::was_moved() const {
    const bool was_seen = stood_.at && stood_.of == taken_->line.origin;
    return place_.was_moved(taken_->stands_at) || (was_seen && taken_->stands_at > *stood_.at);
}

bool checkpoint::others_had_it(const std::optional<position>& ends) const {
    const auto& known = keeper_.known();
    const bool wrote_a_row =
        ends && left_.row && taken_->line.shares(*ends) && ends->at > *left_.row;
    return wrote_a_row ||
           (known && (taken_->line.origin != left_.server || known->version > left_.version));
}

bool checkpoint::has_all_told(const std::optional<position>& ends, std::uint64_t last_sequence,
                              bool made_again) const {
    if (!taken_) {
        return true;
    }
    const auto& known = keeper_.known();
    if (known && !made_again && last_sequence >= known->sequence) {
        return true;
    }
    if (known && seen_ && is_sent_again(*known, *seen_, ends, keeper_.may_tell(), taken_->line)) {
        return true;  // a crash has set the slot back as well
    }
    if (!known && sends_all_from_its_beginning(ends, taken_->stands_at) &&
        keeper_.may_tell() <= *taken_->began_at) {
        return true;
    }
    if (known && seen_ && may_lack_late_rows(*known, *seen_)) {
        return false;
    }
    const auto& gone = known ? known->where : std::nullopt;
    if (!gone) {
        // What was told before the witness: only what comes after the slot is sent again.
        return ends && taken_->line.shares(*ends) && ends->at.commit >= keeper_.may_tell();
    }
    const auto& line = taken_->line;
    if (!ends || line.shares(*ends)) {
        return ends && ends->at >= gone->at;
    }
    if (ends->origin.system_identifier != line.origin.system_identifier) {
        return false;
    }
    // Another relay has published rows of a promoted server that this one has not met yet. After
    // them, all of what both histories share is there.
    if (ends->origin.timeline > line.origin.timeline) {
        return ends->at >= gone->at;
    }
    // A row of a branch that was left stands after all that came before the switch.
    const auto left_at = line.end_of(ends->origin.timeline);
    return left_at && (!line.shares(*gone) || gone->at.commit < *left_at);
}

std::optional<error> checkpoint::refuses_stream() const {
    const auto& known = keeper_.known();
    if (!seen_ || !known || known->version == 0 ||
        judge_stream(*known, *seen_) != stream_verdict::another_stream) {
        return std::nullopt;
    }
    return stream_has_lost(*known, *seen_, stream_verdict::another_stream, slot_);
}

void checkpoint::begin_anew(const std::optional<stored_message>& last, lsn place, history origin) {
    witness anew;
    anew.stream = stream_;
    anew.created = stream_created();
    anew.sequence = last ? last->sequence : 0;
    anew.where = last ? last->where : std::nullopt;
    anew.told = place;
    anew.origin = origin;
    keeper_.replace(std::move(anew));
}

}  // namespace walrelay::relay
