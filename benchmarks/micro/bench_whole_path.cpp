// The whole pure path: frames in, messages out, acks in, through the relay machine as the driver
// uses it.

#include "event_meter.hpp"
#include "hot_path/event_frames.hpp"
#include "hot_path/relay_loop.hpp"

namespace walrelay::bench {
namespace {

void whole_path(benchmark::State& state, test::loop_options how) {
    constexpr std::size_t block_rows = 1000;
    constexpr std::size_t warm_up_rows = 20'000;
    test::event_frames source({how.plugin, static_cast<std::size_t>(state.range(0)),
                               static_cast<std::size_t>(state.range(1))});
    test::relay_loop loop(how);
    loop.run(source.next(warm_up_rows));
    event_meter meter(state);
    for (auto _ : state) {
        state.PauseTiming();
        const auto frames = source.next(block_rows);
        state.ResumeTiming();
        meter.begin();
        loop.run(frames);
        meter.end(block_rows);
    }
}

void shapes(benchmark::internal::Benchmark* of) {
    of->ArgNames({"row_bytes", "rows"})->ArgsProduct({{100, 300, 4096}, {1, 1000}});
}

BENCHMARK_CAPTURE(whole_path, pgoutput, {output_plugin::pgoutput})->Apply(shapes);
BENCHMARK_CAPTURE(whole_path, wal2json, {output_plugin::wal2json})->Apply(shapes);
BENCHMARK_CAPTURE(whole_path, pgoutput_parallel,
                  {output_plugin::pgoutput, body_format::event, false})
    ->Apply(shapes);

}  // namespace
}  // namespace walrelay::bench
