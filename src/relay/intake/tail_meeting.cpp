#include "relay/intake/tail_meeting.hpp"

#include "relay/intake/open_transaction.hpp"

namespace walrelay::relay {
namespace {

std::string name_of(const tail_claim& tail, const std::string& stream) {
    return "the last message of stream " + stream + " (sequence " + std::to_string(tail.sequence) +
           ", message id " + tail.id + ", position " + to_string(tail.where) + ")";
}

}  // namespace

error tail_not_met(const tail_claim& tail, const std::string& stream) {
    return {errc::tail_not_met, name_of(tail, stream) + " belongs to no row that the slot sends"};
}

error tail_is_another_row(const tail_claim& tail, const std::string& id,
                          const std::string& stream) {
    return {errc::tail_not_met, name_of(tail, stream) +
                                    " does not stand for the row that the slot sends at its "
                                    "position, which has message id " +
                                    id};
}

bool is_past_the_tail(const change& decoded, const std::optional<open_transaction>& in,
                      const commit_position& tail) {
    if (const auto* const commit = std::get_if<transaction_commit>(&decoded)) {
        return commit->commit >= tail.commit;
    }
    if (!in) {
        return false;
    }
    const auto commit = in->begin.commit;
    return commit > tail.commit || (commit == tail.commit && in->at && *in->at > tail);
}

}  // namespace walrelay::relay
