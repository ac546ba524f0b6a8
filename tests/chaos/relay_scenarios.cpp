// Faults of the relay's own process. See scenario.hpp.
#include "chaos/scenario.hpp"
#include "support/eventually.hpp"

#include <csignal>
#include <stdexcept>

namespace walrelay::chaos {
namespace {

using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;

void kill_relay(arena& where, dice& /*random*/) {
    where.relay().kill_9();
    where.start_relay();
}

void terminate_relay(arena& where, dice& /*random*/) {
    constexpr std::chrono::seconds patience{10};
    const auto code = where.relay().stop(patience);
    if (code != 0) {
        throw std::runtime_error("the relay does not end with 0 on SIGTERM, but " +
                                 (code ? "with " + std::to_string(*code) : "not at all"));
    }
    where.start_relay();
}

void pause_relay(arena& where, dice& random) {
    where.relay().process().signal(SIGSTOP);
    pass(random.duration(100ms, 8s));
    where.relay().process().signal(SIGCONT);
}

}  // namespace

void pass(std::chrono::milliseconds duration) {
    (void)test::eventually(duration, [] { return false; });
}

std::vector<scenario> relay_scenarios() {
    return {
        {.name = "relay_kill",
         .what = "kill -9 of the relay, which is started again at once",
         .fire = kill_relay,
         .long_times = 300,
         .long_rows = 1000000},
        {.name = "relay_term",
         .what = "SIGTERM to the relay, which must end with 0 in 10 s, and a new start",
         .fire = terminate_relay,
         .long_times = 50},
        {.name = "relay_pause",
         .what = "SIGSTOP of the relay for 0.1 to 8 s, with wal_sender_timeout = 5 s",
         .fire = pause_relay},
    };
}

}  // namespace walrelay::chaos
