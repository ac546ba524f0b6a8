// A row becomes a message: id, subject, headers, body; and the reply to a publish becomes what it
// means.

#include "event_meter.hpp"
#include "hot_path/event_frames.hpp"
#include "outbox/table_mapper.hpp"
#include "relay/intake/intake.hpp"
#include "relay/lane/publish_outcome.hpp"
#include "wal/decoder.hpp"

#include <cstdlib>
#include <variant>

namespace walrelay::bench {
namespace {

/// As the lane keeps.
constexpr std::size_t kept_bytes = 1024;

outbox::table_mapper mapper_for(body_format body) {
    outbox_table table;
    table.table = test::event_table();
    table.body = body;
    return outbox::table_mapper::make(table).value();
}

void map(benchmark::State& state, body_format body) {
    test::event_frames source({output_plugin::pgoutput, static_cast<std::size_t>(state.range(0))});
    const auto decoder = wal::make_decoder(output_plugin::pgoutput);
    for (const auto& frame : {source.begin(), source.description()}) {
        decoder->decode(test::payload_of(frame)).value();
    }
    const auto frame = source.row();
    const auto decoded = decoder->decode(test::payload_of(frame)).value();
    const auto& row = std::get<row_insert>(decoded);
    auto mapper = mapper_for(body);
    message out;
    const auto map_once = [&] {
        out.clear(kept_bytes);
        out.where = {{7'300'000'000'000'000'001, 1}, {lsn{0x100000400}, {}, 17}};
        if (!mapper.map(row, out)) {
            std::abort();
        }
        benchmark::DoNotOptimize(relay::wire_bytes(out, "OUTBOX"));
    };
    map_once();
    event_meter meter(state);
    for (auto _ : state) {
        meter.begin();
        map_once();
        meter.end(1);
    }
}

void sizes(benchmark::internal::Benchmark* of) {
    of->ArgName("row_bytes")->Arg(100)->Arg(300)->Arg(4096);
}

BENCHMARK_CAPTURE(map, event, body_format::event)->Apply(sizes);
BENCHMARK_CAPTURE(map, payload, body_format::payload)->Apply(sizes);
BENCHMARK_CAPTURE(map, cloudevents, body_format::cloudevents)->Apply(sizes);
BENCHMARK_CAPTURE(map, protobuf, body_format::protobuf)->Apply(sizes);

void reply(benchmark::State& state) {
    event_meter meter(state);
    for (auto _ : state) {
        meter.begin();
        benchmark::DoNotOptimize(
            relay::parse_publish_reply(R"({"stream":"OUTBOX", "seq":123456789})", "OUTBOX"));
        meter.end(1);
    }
}

BENCHMARK(reply);

}  // namespace
}  // namespace walrelay::bench
