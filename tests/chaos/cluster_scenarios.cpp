// Faults of a JetStream cluster of three, whose stream has three replicas. See scenario.hpp.
#include "chaos/scenario.hpp"
#include "support/eventually.hpp"

#include <stdexcept>

namespace walrelay::chaos {
namespace {

using namespace std::chrono_literals;

constexpr std::chrono::seconds patience{90};

void with_cluster(arena_options& options) {
    options.cluster = true;
}

/// The name of the server that leads the stream; throws if the cluster does not agree on one.
std::string wait_for_leader(test::stream_reader& reader, const std::string& other_than = {}) {
    std::string leader;
    const bool found = test::eventually(patience, [&] {
        try {
            const auto state = reader.state(stream_name);
            leader = state ? state->leader : std::string();
        } catch (const std::runtime_error&) {
            leader.clear();
        }
        return !leader.empty() && leader != other_than;
    });
    if (!found) {
        throw std::runtime_error("the stream has no leader");
    }
    return leader;
}

test::stream_reader reader_of(arena& where) {
    return test::stream_reader(where.broker_url(), 500ms);
}

/// The others elect a new one; the cause is gone once they have, and the killed one is back.
void kill_leader(arena& where, dice& random) {
    auto reader = reader_of(where);
    const auto leader = wait_for_leader(reader);
    where.cluster().server(leader).kill_9();
    pass(random.duration(0ms, 4s));
    where.cluster().server(leader).start();
    (void)wait_for_leader(reader);
}

void step_down(arena& where, dice& /*random*/) {
    auto reader = reader_of(where);
    const auto leader = wait_for_leader(reader);
    reader.step_down(stream_name);
    (void)wait_for_leader(reader, leader);
}

void pause_leader(arena& where, dice& random) {
    auto reader = reader_of(where);
    auto& server = where.cluster().server(wait_for_leader(reader));
    server.freeze();
    pass(random.duration(100ms, 12s));
    server.resume();
    (void)wait_for_leader(reader);
}

void kill_follower(arena& where, dice& random) {
    auto reader = reader_of(where);
    const auto leader = wait_for_leader(reader);
    const auto first = random.between(0, test::nats_cluster::size - 1);
    auto* server = &where.cluster().server(first);
    if (server == &where.cluster().server(leader)) {
        server = &where.cluster().server((first + 1) % test::nats_cluster::size);
    }
    server->kill_9();
    pass(random.duration(0ms, 4s));
    server->start();
}

/// The old leader goes on believing in itself for a while. Where clients still reach it, it answers
/// them with a stream that ends in what the others never agreed to.
void partition_hard(arena& where, dice& random) {
    auto reader = reader_of(where);
    const auto leader = test::nats_cluster::index_of(wait_for_leader(reader));
    where.network().cut_off(leader, random.one_in(2));
    if (random.one_in(2)) {
        pass(random.duration(0ms, 1500ms));
        where.relay().kill_9();
        where.start_relay();
    }
    pass(random.duration(1s, 10s));
    where.network().heal();
    (void)wait_for_leader(reader);
}

void with_network(arena_options& options) {
    options.cluster = true;
    options.cluster_network = true;
}

}  // namespace

std::vector<scenario> cluster_scenarios() {
    return {
        {.name = "cluster_leader_kill",
         .what = "kill -9 of the server that leads the stream, away for 0 to 4 s",
         .fire = kill_leader,
         .arrange = with_cluster,
         .every_broker = true,
         .in_long_form = true,
         .long_times = 54,
         .long_rows = 60000},
        {.name = "cluster_stepdown",
         .what = "the stream's leader is asked to hand over",
         .fire = step_down,
         .arrange = with_cluster,
         .every_broker = true,
         .in_long_form = true,
         .long_times = 54,
         .long_rows = 60000},
        {.name = "cluster_pause",
         .what = "SIGSTOP of the server that leads the stream for 0.1 to 12 s",
         .fire = pause_leader,
         .arrange = with_cluster,
         .every_broker = true,
         .long_times = 12},
        {.name = "cluster_follower_kill",
         .what = "kill -9 of a server that does not lead the stream, away for 0 to 4 s",
         .fire = kill_follower,
         .arrange = with_cluster,
         .every_broker = true,
         .long_times = 12},
        {.name = "cluster_partition_hard",
         .what =
             "the stream's leader loses the others for 1 to 10 s and all its clients at once; the"
             " relay is killed in every other round",
         .fire = partition_hard,
         .arrange = with_network,
         .every_broker = true,
         .hides_stream = true,
         .recovery_limit = 25s,  // an election may have begun just then
         .long_times = 120,
         .long_rows = 120000},
    };
}

}  // namespace walrelay::chaos
