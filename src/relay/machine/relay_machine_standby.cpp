// The relay machine on a standby, which may change its timeline under a connection: by its own
// promotion, or by following that of its primary.
//
// What a standby had replayed while its timeline was still that of the session is of that timeline.
// So a transaction is read only once the server has been asked how far it has replayed. It sends
// nothing that it has not replayed: one answer is enough for all that is on its way.

#include "relay/machine/relay_machine.hpp"
#include "relay/machine/relay_words.hpp"

#include <utility>

namespace walrelay::relay {
namespace {

error timeline_changed(const std::string& slot, std::uint32_t before, std::uint32_t after) {
    return {errc::postgres_lost,
            "the server of slot " + slot + " went from timeline " + std::to_string(before) +
                " to " + std::to_string(after) +
                " under the connection: it, or the primary that it follows, was promoted",
            "nothing to do: the rows behind the switch are read over a new connection"};
}

error is_being_promoted(const std::string& slot, lsn commit) {
    return {errc::postgres_lost,
            "the server of slot " + slot + " sends the transaction with commit LSN " +
                to_string(commit) + " before it tells of which timeline that is",
            "nothing to do: it is being promoted, and is asked again over a new connection"};
}

}  // namespace

void relay_machine::ask_for_timeline() {
    if (!replayed_ || !intake_.in_transaction() || intake_.open_commit() <= *replayed_) {
        return;
    }
    asking_for_timeline_ = true;
    actions_.emplace_back(ask_replayed{postgres_.epoch()});
}

void relay_machine::replayed(std::uint64_t epoch, const result<replay_place>& place, instant now) {
    if (epoch != postgres_.epoch() || !asking_for_timeline_) {
        return;
    }
    asking_for_timeline_ = false;
    const auto timeline = server_.line.origin.timeline;
    if (!place) {
        lose_postgres(place.error(), now);
    } else if (place->timeline != timeline) {
        lose_postgres(timeline_changed(options_.slot, timeline, place->timeline), now);
    } else if (intake_.open_commit() > place->up_to) {
        lose_postgres(is_being_promoted(options_.slot, intake_.open_commit()), now);
    } else {
        replayed_ = place->up_to;
    }
}

}  // namespace walrelay::relay
