// Faults of the relay's own process. See scenario.hpp.
#include "chaos/scenario.hpp"
#include "support/eventually.hpp"

#include <csignal>
#include <optional>
#include <stdexcept>

namespace walrelay::chaos {
namespace {

using namespace std::chrono_literals;

void kill_relay(arena& where, dice& /*random*/) {
    where.relay().kill_9();
    where.start_relay();
}

void terminate_relay(arena& where, dice& /*random*/) {
    constexpr std::chrono::seconds patience{60};
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

unsigned wait_for_leader(arena& where) {
    constexpr std::chrono::seconds patience{60};
    std::optional<unsigned> leader;
    const bool found = test::eventually(patience, [&] {
        leader = where.leader();
        return leader.has_value();
    });
    if (!found) {
        throw std::runtime_error("no relay streams from the slot");
    }
    return *leader;
}

/// A row that is committed now must be in the stream soon: a standby looks once in a second, and
/// then connects to both servers, which has no bar on a machine that is busy with other tests.
void require_takeover(arena& where) {
    constexpr std::chrono::seconds limit{60};
    const auto subject = where.commit_marker();
    if (!test::eventually(limit, [&] { return where.is_stored(subject); })) {
        throw std::runtime_error("the standby has not taken over within " +
                                 std::to_string(limit.count()) + " s; " + where.ended_relays());
    }
}

void terminate_leading_relay(arena& where, dice& /*random*/) {
    constexpr std::chrono::seconds patience{60};
    const auto leader = wait_for_leader(where);
    if (where.relay(leader).stop(patience) != 0) {
        throw std::runtime_error("the relay does not end with 0 on SIGTERM");
    }
    require_takeover(where);
    where.start_relay(leader);
}

/// The one that leads is stopped in the middle of its window, its walsender is ended so that the
/// other takes over, and then it goes on with what it had in hand.
void raise_a_zombie(arena& where, dice& random) {
    const auto leader = wait_for_leader(where);
    where.relay(leader).process().signal(SIGSTOP);
    (void)where.session().query(
        "SELECT pg_terminate_backend(active_pid) FROM pg_replication_slots WHERE slot_name = $1",
        {slot_name});
    require_takeover(where);
    pass(random.duration(0ms, 3s));
    where.relay(leader).process().signal(SIGCONT);
}

void with_standby(arena_options& options) {
    options.relays = 2;
}

}  // namespace

void kill_leading_relay(arena& where, dice& /*random*/) {
    const auto leader = wait_for_leader(where);
    where.relay(leader).kill_9();
    require_takeover(where);
    where.start_relay(leader);
}

void pass(std::chrono::milliseconds duration) {
    (void)test::eventually(duration, [] { return false; });
}

std::vector<scenario> relay_scenarios() {
    return {
        {.name = "relay_kill",
         .what = "kill -9 of the relay, which is started again at once",
         .fire = kill_relay,
         .in_long_form = true,
         .long_times = 300,
         .long_rows = 1000000},
        {.name = "relay_term",
         .what = "SIGTERM to the relay, which must end with 0, and a new start",
         .fire = terminate_relay,
         .long_times = 20},
        {.name = "relay_pause",
         .what = "SIGSTOP of the relay for 0.1 to 8 s, with wal_sender_timeout = 5 s",
         .fire = pause_relay},
        {.name = "two_relays",
         .what = "kill -9 of the relay that leads; its standby must take over",
         .fire = kill_leading_relay,
         .arrange = with_standby,
         .long_times = 20},
        {.name = "two_relays_term",
         .what = "SIGTERM to the relay that leads; its standby must take over",
         .fire = terminate_leading_relay,
         .arrange = with_standby},
        {.name = "zombie",
         .what = "the relay that leads is stopped, replaced by its standby, and goes on",
         .fire = raise_a_zombie,
         .arrange = with_standby,
         .long_times = 20},
    };
}

}  // namespace walrelay::chaos
