// The decoders alone: payloads of a transaction in, changes out.

#include "event_meter.hpp"
#include "hot_path/event_frames.hpp"
#include "wal/decoder.hpp"

#include <cstdlib>
#include <string>
#include <vector>

namespace walrelay::bench {
namespace {

void decode(benchmark::State& state, output_plugin plugin) {
    const auto rows = static_cast<std::size_t>(state.range(1));
    test::event_frames source({plugin, static_cast<std::size_t>(state.range(0)), rows});
    const auto decoder = wal::make_decoder(plugin);
    const auto read = [&decoder](const std::vector<std::string>& frames) {
        for (const auto& frame : frames) {
            if (!decoder->decode(test::payload_of(frame))) {
                std::abort();
            }
        }
    };
    read(source.next(rows));
    const auto frames = source.next(rows);
    event_meter meter(state);
    for (auto _ : state) {
        meter.begin();
        read(frames);
        meter.end(rows);
    }
}

void shapes(benchmark::internal::Benchmark* of) {
    of->ArgNames({"row_bytes", "rows"})->ArgsProduct({{100, 300, 4096}, {1, 1000}});
}

BENCHMARK_CAPTURE(decode, pgoutput, output_plugin::pgoutput)->Apply(shapes);
BENCHMARK_CAPTURE(decode, wal2json, output_plugin::wal2json)->Apply(shapes);

}  // namespace
}  // namespace walrelay::bench
