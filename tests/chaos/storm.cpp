// See storm.hpp.
#include "chaos/storm.hpp"

#include "support/eventually.hpp"

namespace walrelay::chaos {
namespace {

/// The faults are spread over the rows, at moments that the seed decides.
void wait_for_turn(trial& one, const scenario& what, std::uint64_t count, dice& random) {
    one.wait_for_rows(one.plan().rows * count / (one.plan().times + 1));
    (void)test::throughout(random.duration(what.shortest_gap, what.longest_gap),
                           [&] { return one.where().relays_run(); });
    one.require_relays();
}

void storm(trial& one, const scenario& what) {
    dice random(one.plan().seed);
    one.start();
    one.start_writers();
    for (std::uint64_t count = 1; count <= one.plan().times; ++count) {
        wait_for_turn(one, what, count, random);
        what.fire(one.where(), random);
        ++one.result().times;
        one.recover();
    }
    one.wait_for_rows(one.plan().rows);
    one.drain();
    one.judge();
    if (what.hides_stream) {
        one.result().found.confirmed_early = 0;
    }
}

}  // namespace

outcome run_storm(const scenario& what, const storm_plan& plan) {
    outcome result{
        .fault = what.name, .plugin = plan.plugin, .recovery_limit = what.recovery_limit};
    auto options = options_for(plan);
    if (what.arrange) {
        what.arrange(options);
    }
    run_trial(plan, options, result, [&](trial& one) { storm(one, what); });
    return result;
}

}  // namespace walrelay::chaos
