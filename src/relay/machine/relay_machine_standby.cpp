// The relay machine's events of a standby's timeline; the rules are those of timeline_watch.

#include "relay/machine/relay_machine.hpp"

namespace walrelay::relay {

void relay_machine::ask_for_timeline() {
    if (intake_.in_transaction() && known_.timeline().asks_before(intake_.open_commit())) {
        actions_.emplace_back(ask_replayed{postgres_.epoch()});
    }
}

void relay_machine::replayed(std::uint64_t epoch, const result<replay_place>& place, instant now) {
    if (epoch != postgres_.epoch() || !known_.timeline().is_asking()) {
        return;
    }
    if (const auto why = known_.timeline().answered(place, known_.line().origin.timeline,
                                                    intake_.open_commit(), options_.slot)) {
        lose_postgres(*why, now);
    }
}

}  // namespace walrelay::relay
