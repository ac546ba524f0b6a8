// Faults of a single nats-server. See scenario.hpp.
#include "chaos/scenario.hpp"

namespace walrelay::chaos {
namespace {

using namespace std::chrono_literals;

void kill_broker(arena& where, dice& /*random*/) {
    where.nats().kill_9();
    where.nats().start();
}

void restart_broker(arena& where, dice& /*random*/) {
    where.nats().stop();
    where.nats().start();
}

void pause_broker(arena& where, dice& random) {
    where.nats().freeze();
    pass(random.duration(100ms, 12s));
    where.nats().resume();
}

void long_outage(arena& where, dice& random) {
    where.nats().kill_9();
    pass(random.duration(1500ms, 5s));
    where.nats().start();
}

/// What the writers bring meanwhile fills it.
void fill_stream(arena& where, dice& random) {
    constexpr std::int64_t room = 3000;
    test::stream_reader reader(where.broker_url());
    reader.limit(stream_name,
                 static_cast<std::int64_t>(reader.state(stream_name)->messages) + room);
    pass(random.duration(2s, 6s));
    reader.limit(stream_name, -1);
}

/// Acked messages of up to 3 s are forgotten, and their sequence numbers used again.
void lose_power(arena& where, dice& random) {
    where.nats().remember_store();
    pass(random.duration(50ms, 3s));
    where.nats().kill_9();
    where.nats().restore_store();
    where.nats().start();
}

}  // namespace

std::vector<scenario> broker_scenarios() {
    return {
        {.name = "broker_kill",
         .what = "kill -9 of nats-server and start",
         .fire = kill_broker,
         .every_broker = true,
         .in_long_form = true,
         .long_times = 102,
         .long_rows = 120000},
        {.name = "broker_restart",
         .what = "SIGTERM to nats-server and start",
         .fire = restart_broker},
        {.name = "broker_pause",
         .what = "SIGSTOP of nats-server for 0.1 to 12 s",
         .fire = pause_broker},
        {.name = "stream_full",
         .what = "the stream takes no more messages (max_msgs, discard new) within 2 to 6 s",
         .fire = fill_stream},
        {.name = "broker_long_outage",
         .what =
             "nats-server killed and away for 1.5 to 5 s, longer than the duplicate window (1 s)",
         .fire = long_outage,
         .arrange = [](arena_options& options) { options.duplicate_window = 1s; }},
        {.name = "power_loss",
         .what = "nats-server forgets what it acked in the last 0.05 to 3 s; confirm_delay = 10s",
         .fire = lose_power,
         .arrange = [](arena_options& options) { options.delivery += "confirm_delay = '10s'\n"; },
         .every_broker = true,
         .in_long_form = true,
         .long_times = 54,
         .long_rows = 60000},
    };
}

}  // namespace walrelay::chaos
