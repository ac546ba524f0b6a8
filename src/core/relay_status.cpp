#include "core/relay_status.hpp"

namespace walrelay {

const char* to_string(relay_state state) {
    switch (state) {
        case relay_state::starting:
            return "starting";
        case relay_state::standby:
            return "standby";
        case relay_state::snapshot:
            return "snapshot";
        case relay_state::catching_up:
            return "catching_up";
        case relay_state::streaming:
            return "streaming";
        case relay_state::waiting_postgres:
            return "waiting_postgres";
        case relay_state::waiting_broker:
            return "waiting_broker";
        case relay_state::draining:
            return "draining";
        case relay_state::halted:
            break;
    }
    return "halted";
}

}  // namespace walrelay
