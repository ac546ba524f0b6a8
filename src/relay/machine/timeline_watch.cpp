#include "relay/machine/timeline_watch.hpp"

namespace walrelay::relay {
namespace {

error timeline_changed(const std::string& slot, std::uint32_t before, std::uint32_t after) {
    return {errc::postgres_lost,
            "the server of slot " + slot + " went from timeline " + std::to_string(before) +
                " to " + std::to_string(after) +
                " under the connection: it, or the primary that it follows, was promoted",
            "nothing to do: the rows after the switch are read over a new connection"};
}

error is_being_promoted(const std::string& slot, lsn commit) {
    return {errc::postgres_lost,
            "the server of slot " + slot + " sends the transaction with commit LSN " +
                to_string(commit) + " before it tells of which timeline that is",
            "nothing to do: it is being promoted, and is asked again over a new connection"};
}

}  // namespace

std::optional<error> timeline_watch::answered(const result<replay_place>& place,
                                              std::uint32_t timeline, lsn commit,
                                              const std::string& slot) {
    asking_ = false;
    if (!place) {
        return place.error();
    }
    if (place->timeline != timeline) {
        return timeline_changed(slot, timeline, place->timeline);
    }
    if (commit > place->up_to) {
        return is_being_promoted(slot, commit);
    }
    up_to_ = place->up_to;
    return std::nullopt;
}

}  // namespace walrelay::relay
