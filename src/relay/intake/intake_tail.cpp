// The intake's part of the checkpoint: the row of the stream's last message, where it is still to
// be met.

#include "relay/intake/intake.hpp"

#include <algorithm>

namespace walrelay::relay {
namespace {

std::string name_of(const tail_claim& tail, const std::string& stream) {
    return "the last message of stream " + stream + " (sequence " + std::to_string(tail.sequence) +
           ", message id " + tail.id + ", position " + to_string(tail.where) + ")";
}

error not_met(const tail_claim& tail, const std::string& stream) {
    return {errc::tail_not_met, name_of(tail, stream) + " stands for no row that the slot sends"};
}

error another_row(const tail_claim& tail, const std::string& id, const std::string& stream) {
    return {errc::tail_not_met, name_of(tail, stream) +
                                    " does not stand for the row that the slot sends at its "
                                    "position, which has message id " +
                                    id};
}

}  // namespace

error intake::tail_not_met(const lane& into) const {
    return not_met(*into.claim(), options_.stream);
}

bool intake::is_past_the_tail(const change& decoded, const lane& into) const {
    const auto& tail = into.claim()->where.at;
    if (const auto* const commit = std::get_if<transaction_commit>(&decoded)) {
        return commit->commit >= tail.commit;
    }
    if (!transaction_) {
        return false;
    }
    const auto commit = transaction_->begin.commit;
    return commit > tail.commit ||
           (commit == tail.commit && transaction_->at && *transaction_->at > tail);
}

result<void> intake::pass_over(commit_position here, std::size_t mapper, const row_insert& row,
                               std::string_view occasion, lane& into, frame_read& done) {
    const auto& tail = *into.claim();
    if (here != tail.where.at && !into.shows_others_around(here)) {
        return {};
    }
    message& same = vacancy_for(here, into);
    // Only the id matters, and a row that can no longer be mapped has none.
    static_cast<void>(fill(mapper, row, occasion, same));
    if (here != tail.where.at) {
        if (!is_dead(here) && into.leaves_out(here, same.id)) {
            done.left_out = same.id;
        }
        return {};
    }
    if (!tail.id.empty() && !same.id.empty() && same.id != tail.id) {
        return another_row(tail, same.id, options_.stream);
    }
    into.claim_is_met();
    return {};
}

}  // namespace walrelay::relay
