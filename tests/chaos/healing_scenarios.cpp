// A slot that is lost, and healed while the servers of the stream lose each other. See
// scenario.hpp.
#include "chaos/position_stage.hpp"
#include "chaos/trial.hpp"
#include "support/outbox_events.hpp"

#include <algorithm>
#include <stdexcept>

namespace walrelay::chaos {
namespace {

using namespace std::chrono_literals;

void with_healing(arena_options& options) {
    options.cluster = true;
    options.cluster_network = true;
    options.delivery = "on_slot_loss = 'heal'\n";
}

void drop_slot(arena& where) {
    where.session().execute(std::string("SELECT pg_drop_replication_slot('") + slot_name + "')");
}

std::size_t leader_of_stream(arena& where) {
    test::stream_reader reader(where.broker_url());
    const auto state = reader.state(stream_name);
    require(state && !state->leader.empty(), "the stream has no leader");
    return test::nats_cluster::index_of(state->leader);
}

/// What waits in the routes when they are cut was delivered, and never arrives.
void cut_while_healing(trial& one) {
    constexpr int cuts = 3;
    auto& where = one.where();
    auto& network = where.network();
    dice random(one.plan().seed + one.result().times);
    begin(one);
    const auto rows = std::max<std::uint64_t>(one.plan().rows, 2000);
    where.session().execute(test::insert_events(1, rows));
    one.wait_for_marker(recovery_patience);
    stop_relay(one);
    drop_slot(where);
    where.session().execute(test::insert_events(rows + 1, rows + 100));
    network.set_routes({.latency = random.duration(10ms, 60ms)});
    where.start_relay();
    for (int cut = 0; cut < cuts; ++cut) {
        pass(random.duration(50ms, 1500ms));
        network.cut_off(leader_of_stream(where), false);
        network.heal();
    }
    network.set_routes({});
    one.wait_for_marker(recovery_patience);
    stop_relay(one);
    judge_rows(one, {.ids = ids_of(where), .in_order = false}, response::went_on);
}

}  // namespace

std::vector<scenario> healing_scenarios() {
    auto cut = scenario_of("heal_cut",
                           "a slot is lost and healed in a cluster whose routes are cut meanwhile",
                           {{.name = "cut", .arrange = with_healing, .run = cut_while_healing}});
    cut.every_broker = true;
    return {std::move(cut)};
}

}  // namespace walrelay::chaos
