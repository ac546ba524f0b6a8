#include "relay/lane/lane.hpp"

#include "core/assert.hpp"
#include "relay/lane/fenced_lane.hpp"
#include "relay/lane/parallel_lane.hpp"

#include <algorithm>
#include <utility>

namespace walrelay::relay {
namespace {

// However often the broker complains, this many publishes are still sent at once.
constexpr std::size_t in_flight_limit_min = 16;
constexpr std::int32_t too_many_requests = 10167;

}  // namespace

std::unique_ptr<lane> lane::make(const lane_options& options) {
    if (options.sole_writer) {
        return std::make_unique<fenced_lane>(options);
    }
    return std::make_unique<parallel_lane>(options);
}

lane::lane(const lane_options& options)
    : options_(options),
      window_(options.window_messages, options.window_bytes),
      in_flight_limit_(options.window_messages),
      acks_(options.window_messages) {}

// The side of the source.

bool lane::holds(const position& where) const {
    const auto index = window_.find(where);
    return index && !at(*index).stored;
}

void lane::refuse(const position& where, std::uint64_t sequence) {
    if (const auto index = window_.find(where)) {
        static_cast<void>(refuse(*index, {outcome_class::duplicate, sequence, 0,
                                          "the stream already has this Nats-Msg-Id at sequence " +
                                              std::to_string(sequence) + ", from another row"}));
    }
}

lane::entry& lane::take_in() {
    const auto& where = at(end()).content.where;
    WALRELAY_ASSERT(!covers(where.at));
    WALRELAY_ASSERT(where.origin == line_.origin);
    admitted_ = where.at;
    return window_.take_in();
}

void lane::admit() {
    take_in();
    on_admitted(end() - 1);
}

void lane::admit_stored() {
    entry& added = take_in();
    added.stored = true;
    added.settled = true;
    added.in_stream = true;
    forget_stored();
}

void lane::admit_settled(const position& where) {
    vacancy().where = where;
    entry& added = take_in();
    added.stored = true;
    added.settled = true;
    forget_stored();
}

void lane::admit_waiting(const position& where) {
    // What could not be filled of this row is still there.
    const message& unfilled = at(end()).content;
    const auto committed_at = unfilled.where == where ? unfilled.committed_at : wall_time{};
    message& waiting = vacancy();
    waiting.where = where;
    waiting.committed_at = committed_at;
    entry& added = take_in();
    added.waiting = true;
}

void lane::settle_waiting(const std::vector<commit_position>& those) {
    for (auto index = first(); index != end(); ++index) {
        entry& each = at(index);
        if (each.waiting && std::ranges::binary_search(those, each.content.where.at)) {
            each.waiting = false;
            each.stored = true;
            each.settled = true;
            on_settled(index);
        }
    }
    forget_stored();
}

void lane::start_over() {
    WALRELAY_ASSERT(!epoch_open_);
    empty_window();
    admitted_ = stored_;
}

void lane::forget_proof() {
    stored_.reset();
    proved_.where.reset();
    start_over();
    acks_.clear();
    believe(tail_belief::undecided);
}

bool lane::drop_unsent() {
    for (auto index = first(); index != end(); ++index) {
        if (at(index).sent && !at(index).stored) {
            return false;
        }
    }
    empty_window();
    admitted_ = stored_;
    return true;
}

void lane::empty_window() {
    for (; !empty(); window_.drop_first()) {
        const entry& leaving = at(first());
        if (!options_.sole_writer && leaving.stored && (!leaving.settled || leaving.in_stream)) {
            acks_.keep(leaving.content);
        }
    }
    on_emptied();
}

// The side of the broker.

bool lane::has_forgotten(const stream_tail& tail) const {
    return end_of_stream_.is_less(tail, options_.sole_writer && !is_disordered_);
}

void lane::close() {
    epoch_open_ = false;
    // What was in flight may have been stored in part; and what was shown is to be judged again as
    // long as the tail's row is not met.
    look_back_ = look_back_ || claim() || belief_ == tail_belief::undecided ||
                 (!empty() && at(first()).sent);
}

std::uint64_t lane::wanted_look_back() const {
    return look_back_ && options_.sole_writer ? look_back_over(window_.capacity()) : 0;
}

stream_memory lane::open(std::uint64_t epoch, const stream_tail& tail, tail_belief how) {
    WALRELAY_ASSERT(epoch > epoch_);
    const auto& checkpoint = tail.checkpoint();
    const bool is_known = checkpoint && options_.sole_writer && !is_disordered_ && !tail.mixed &&
                          !distrusted_ && line_.shares(*checkpoint) &&
                          sent_itself(*checkpoint, tail.checkpoint_id());
    const bool forgot = has_forgotten(tail);
    epoch_ = epoch;
    epoch_open_ = true;
    // After a stranger the next tail means nothing alone, either.
    look_back_ = tail.shared;
    end_of_stream_.seen(tail);
    if (forgot) {
        forget_stream();
    }
    end_of_stream_.seen_position(tail);
    opened_with_ = tail;
    distrusted_ = distrusted_ || tail.mixed;
    opened_with_.mixed = distrusted_;
    // What the slot has still to send is no matter of the broker's.
    const auto open_claim = is_known || !options_.sole_writer ? claim() : std::nullopt;
    claimed_.drop();
    belief_ = is_known ? tail_belief::exact : how;
    if (belief_ == tail_belief::undecided) {
        // The slot sends it again, and by then it is known what the stream has.
        empty_window();
        admitted_ = stored_;
    }
    forget_sent();
    on_open(tail);
    take_checkpoint();
    if (open_claim && !forgot) {
        claimed_.make(*open_claim);
    }
    on_belief();
    return forgot ? stream_memory::forgot : stream_memory::kept;
}

void lane::forget_stream() {
    empty_window();
    acks_.clear();
    admitted_ = stored_ = std::nullopt;
    end_of_stream_.forget_position();
    proved_.where.reset();
}

void lane::forget_sent() {
    for (auto index = first(); index != end(); ++index) {
        at(index).sent = false;
        // Beside others nothing is refused because of what is missing before it, so that an ack
        // holds.
        at(index).stored = at(index).settled || (at(index).stored && !options_.sole_writer);
    }
}

void lane::settle_stored(const position& where) {
    if (const auto index = window_.find(where)) {
        on_met(*index);
        settle_stored(*index);
    }
    on_belief();
}

void lane::settle_asked(const position& where) {
    if (const auto index = window_.find(where)) {
        on_own_found(*index);
        settle_stored(*index);
    }
}

void lane::settle_stored(std::uint64_t index) {
    at(index).stored = true;
    at(index).settled = true;
    at(index).in_stream = true;
    forget_stored();
}

outgoing lane::send(std::uint64_t index, std::optional<std::uint64_t> expected,
                    monotonic_time now) {
    entry& sending = at(index);
    sending.sent = true;
    sending.sent_at = now;
    sending.offered_at = std::exchange(sending.offered, true) ? sending.offered_at : now;
    sending.behind_sequence = expected.value_or(known_sequence());
    return {{epoch_, index}, expected, &sending.content};
}

bool lane::in_flight(publish_token token) const {
    return epoch_open_ && token.epoch == epoch_ && token.index >= first() && token.index < end() &&
           at(token.index).sent && !at(token.index).stored;
}

lane_verdict lane::on_reply(publish_token token, const publish_outcome& outcome,
                            monotonic_time now) {
    if (!in_flight(token)) {
        return lane_verdict::carry_on;
    }
    const auto verdict = take_reply(token.index, outcome, now);
    return verdict == lane_verdict::carry_on ? on_taken() : verdict;
}

lane_verdict lane::take_reply(std::uint64_t index, const publish_outcome& outcome,
                              monotonic_time now) {
    if (is_passed_over(index, outcome)) {
        at(index).sent = false;
        return lane_verdict::carry_on;
    }
    switch (outcome.kind) {
        case outcome_class::stored:
            last_ack_at_ = now;
            widen();
            return on_stored(index, outcome.sequence);
        case outcome_class::duplicate:
            last_ack_at_ = now;
            return on_duplicate(index, outcome.sequence);
        case outcome_class::transient:
        case outcome_class::doubt:
            if (outcome.error_code == too_many_requests) {
                in_flight_limit_ = std::max(std::min(in_flight_limit_min, window_.capacity()),
                                            std::min(in_flight_limit_, size()) / 2);
            }
            return trouble(lane_verdict::resync, outcome.server_said);
        case outcome_class::refused:
            at(index).sent = false;
            return on_refused(index, outcome);
        case outcome_class::unsuitable:
            return trouble(lane_verdict::stream_unsuitable, outcome.server_said);
    }
    return trouble(lane_verdict::resync, outcome.server_said);
}

std::size_t lane::unacked_count() const {
    std::size_t count = 0;
    for (auto index = first(); index < end(); ++index) {
        count += at(index).sent && !at(index).stored ? 1U : 0U;
    }
    return count;
}

void lane::widen() {
    // One more for each ack doubles the limit with each window, which is soon enough.
    in_flight_limit_ = std::min(in_flight_limit_ + 1, window_.capacity());
}

void lane::mark_stored(std::uint64_t index, const stored_message& as) {
    at(index).stored = true;
    end_of_stream_.stored(as);
    forget_stored();
}

void lane::forget_stored() {
    while (!empty() && at(first()).stored) {
        const auto where = at(first()).content.where;
        if (!at(first()).settled) {
            end_of_stream_.ends_with(where);
        }
        if (!at(first()).settled || at(first()).in_stream) {
            proved_.where = where;
            window_.exchange_first_id(proved_.id);
        }
        if (where.origin == line_.origin || line_.shares(where)) {
            stored_ = where.at;
        }
        forget_first();
    }
    if (stored_ && !acks_.empty()) {
        acks_.forget_up_to(*stored_);
    }
}

void lane::skip_up_to(commit_position where) {
    while (!empty() && line_.shares(at(first()).content.where) &&
           at(first()).content.where.at <= where) {
        forget_first();
    }
    stored_ = stored_ ? std::max(*stored_, where) : where;
    admitted_ = admitted_ ? std::max(*admitted_, where) : where;
    forget_stored();
}

void lane::forget_first() {
    const entry& leaving = at(first());
    stored_count_ += leaving.settled || leaving.waiting ? 0 : 1;
    window_.drop_first();
}

lane_verdict lane::has_lost_acked(std::uint64_t reused_sequence) {
    end_of_stream_.reused(reused_sequence);
    return trouble(lane_verdict::resync, "stored at sequence " + std::to_string(reused_sequence) +
                                             ", after sequence " +
                                             std::to_string(known_sequence()) + " was acked");
}

lane_verdict lane::trouble(lane_verdict verdict, std::string words) {
    last_trouble_ = std::move(words);
    return verdict;
}

}  // namespace walrelay::relay
