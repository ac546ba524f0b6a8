#include "preflight/synced_slot.hpp"

namespace walrelay::preflight {

std::optional<error> kept_for_promotion(const std::string& slot, const postgres_facts& facts) {
    if (!facts.in_recovery || !facts.slot || !facts.slot->synced) {
        return std::nullopt;
    }
    return error{
        errc::postgres_unavailable,
        "slot " + slot +
            " is a copy that this standby keeps in step with its primary: it can be used once "
            "the standby is promoted",
        "let postgres.conninfo name the primary (target_session_attrs=read-write) to relay at "
        "once"};
}

}  // namespace walrelay::preflight
