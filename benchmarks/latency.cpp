// How long a committed row takes to a consumer of the stream, at a steady rate.
//
// Measured from the moment at which COMMIT has returned to the writer until the message has arrived
// at a push consumer of the stream: the broker sends it there once it is stored, which is also when
// it acks. One transaction a row.
//
//   bench_latency --walrelay build/walrelay [--rate 1000] [--seconds 20] [--plugin pgoutput]

#include "bench_setup.hpp"
#include "support/eventually.hpp"
#include "support/postgres_session.hpp"
#include "support/stream_follower.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <thread>
#include <vector>

namespace {

using namespace walrelay;
using clock_type = std::chrono::steady_clock;
using std::chrono::microseconds;

struct moments {
    explicit moments(std::size_t count) : committed(count), arrived(count) {}

    std::vector<clock_type::time_point> committed;
    std::vector<clock_type::time_point> arrived;
    std::atomic<std::size_t> arrived_count = 0;
};

void write_rows(const bench::bench_setup& setup, long rate, moments& seen) {
    auto session = setup.postgres.session();
    session.execute(
        "PREPARE put(bigint) AS INSERT INTO outbox_events VALUES ($1, 'user', $1::text, "
        "'user.created', "
        "jsonb_build_object('user_id', $1, 'text', repeat('x', 120)), NULL, 1, now())");
    const auto start = clock_type::now();
    const std::chrono::nanoseconds interval(std::chrono::seconds(1) / rate);
    for (std::size_t row = 0; row < seen.committed.size(); ++row) {
        std::this_thread::sleep_until(start + interval * static_cast<long>(row));
        session.execute("EXECUTE put(" + std::to_string(row) + ")");
        seen.committed[row] = clock_type::now();
    }
}

void note_arrival(const test::stored_message& message, moments& seen) {
    const auto now = clock_type::now();
    const auto row = std::stoul(message.header("Nats-Msg-Id"));
    seen.arrived.at(row) = now;
    ++seen.arrived_count;
}

std::vector<microseconds> latencies(const moments& seen, std::size_t warm_up) {
    std::vector<microseconds> all;
    for (std::size_t row = warm_up; row < seen.committed.size(); ++row) {
        all.push_back(
            std::chrono::duration_cast<microseconds>(seen.arrived[row] - seen.committed[row]));
    }
    std::sort(all.begin(), all.end());
    return all;
}

void print(const std::string& plugin, long rate, const std::vector<microseconds>& sorted) {
    const auto at = [&](double share) {
        const auto last = static_cast<double>(sorted.size() - 1);
        return sorted[static_cast<std::size_t>(share * last)].count();
    };
    fmt::print("{:<9} {:>6} rows/s  p50 {:>6} us  p99 {:>6} us  p99.9 {:>6} us  max {:>6} us\n",
               plugin, rate, at(0.5), at(0.99), at(0.999), at(1.0));
}

void measure(const std::string& program, const std::string& plugin, long rate, long seconds) {
    bench::bench_setup setup(program);
    setup.init(plugin);
    test::relay_process relay(setup.how("run", plugin));
    if (!relay.wait_for_log("streaming from slot", std::chrono::seconds(30))) {
        throw std::runtime_error("walrelay does not stream:\n" + relay.log());
    }
    moments seen(static_cast<std::size_t>(rate * seconds));
    {
        const test::stream_follower follower(
            setup.nats.url(), bench::bench_setup::stream,
            [&](const test::stored_message& message) { note_arrival(message, seen); });
        write_rows(setup, rate, seen);
        if (!test::eventually(std::chrono::seconds(30),
                              [&] { return seen.arrived_count == seen.committed.size(); })) {
            throw std::runtime_error("not every row arrived:\n" + relay.log());
        }
    }
    print(plugin, rate, latencies(seen, static_cast<std::size_t>(rate)));
}

}  // namespace

int main(int argc, char** argv) {
    try {
        const bench::arguments given(argc, argv);
        const auto program = given.text("walrelay", "build/walrelay");
        const auto only = given.text("plugin", "");
        for (const std::string plugin : {"pgoutput", "wal2json"}) {
            if (only.empty() || only == plugin) {
                measure(program, plugin, given.number("rate", 1000), given.number("seconds", 20));
            }
        }
        return 0;
    } catch (const std::exception& failure) {
        fmt::print(stderr, "bench_latency: {}\n", failure.what());
        return 1;
    }
}
