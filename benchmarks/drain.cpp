// How fast a backlog gets from the slot into the stream.
//
// The rows are committed while walrelay is not running; measured from the start of the program
// until the stream has all of them. In the same run pg_recvlogical decodes the same backlog into
// /dev/null, so that the figure can be read as a ratio.
//
//   bench_drain --walrelay build/walrelay [--rows 500000] [--bytes 300] [--per-transaction 1000]

#include "bench_setup.hpp"
#include "support/postgres_session.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <stdexcept>

namespace {

using namespace walrelay;
using clock_type = std::chrono::steady_clock;

double seconds_since(clock_type::time_point start) {
    return std::chrono::duration<double>(clock_type::now() - start).count();
}

/// `bytes` is what a message's body has, roughly: the payload is what is left of it.
void fill(test::postgres_server& postgres, long rows, long bytes, long per_transaction) {
    constexpr long envelope_bytes = 180;
    const auto payload = std::max(0L, bytes - envelope_bytes);
    auto session = postgres.session();
    for (long first = 0; first < rows; first += per_transaction) {
        session.execute(
            fmt::format("INSERT INTO outbox_events SELECT n, 'user', n::text, 'user.created', "
                        "jsonb_build_object('text', repeat('x', {})), NULL, 1, now() "
                        "FROM generate_series({}, {}) AS n",
                        payload, first, std::min(first + per_transaction, rows) - 1));
    }
}

test::command decode_only(const test::postgres_server& postgres, const std::string& plugin,
                          const test::temporary_folder& folder) {
    test::command what;
    what.program = test::postgres_binary_folder() / "pg_recvlogical";
    what.arguments = {"-d",
                      postgres.conninfo(),
                      "--slot",
                      "decode_only",
                      "--start",
                      "-f",
                      "/dev/null",
                      "--endpos",
                      postgres.session().value_of("SELECT pg_current_wal_lsn()"),
                      "--no-loop"};
    if (plugin == "pgoutput") {
        what.arguments.insert(what.arguments.end(),
                              {"-o", "proto_version=1", "-o", "publication_names=walrelay"});
    } else {
        what.arguments.insert(
            what.arguments.end(),
            {"-o", "format-version=2", "-o", "include-lsn=1", "-o", "include-timestamp=1", "-o",
             "include-types=0", "-o", "include-type-oids=1", "-o", "actions=insert", "-o",
             "add-tables=public.outbox_events"});
    }
    what.folder = folder.path();
    what.name = "pg_recvlogical";
    return what;
}

void measure(const std::string& program, const std::string& plugin, long rows, long bytes,
             long per_transaction) {
    constexpr std::chrono::minutes patience{5};
    bench::bench_setup setup(program);
    setup.init(plugin);
    setup.postgres.session().execute(
        fmt::format("SELECT pg_create_logical_replication_slot('decode_only', '{}')", plugin));
    fill(setup.postgres, rows, bytes, per_transaction);
    setup.postgres.session().execute("CHECKPOINT");

    const test::temporary_folder folder("bench");
    auto start = clock_type::now();
    test::run_to_success(decode_only(setup.postgres, plugin, folder), patience);
    const double decoding = seconds_since(start);

    test::stream_reader reader(setup.nats.url());
    start = clock_type::now();
    test::relay_process relay(setup.how("run", plugin));
    if (!reader.wait_for(bench::bench_setup::stream, static_cast<std::uint64_t>(rows), patience)) {
        throw std::runtime_error("the stream did not get every row:\n" + relay.log());
    }
    const double relaying = seconds_since(start);
    const auto peak = relay.process().resident_peak_bytes();
    fmt::print(
        "{:<9} {} rows of {} B, {} a transaction: {:>7.0f} rows/s, peak memory {} MiB; "
        "the decoder alone {:>7.0f} rows/s\n",
        plugin, rows, bytes, per_transaction, static_cast<double>(rows) / relaying, peak >> 20U,
        static_cast<double>(rows) / decoding);
}

}  // namespace

int main(int argc, char** argv) {
    try {
        const bench::arguments given(argc, argv);
        const auto program = given.text("walrelay", "build/walrelay");
        const auto only = given.text("plugin", "");
        for (const std::string plugin : {"pgoutput", "wal2json"}) {
            if (only.empty() || only == plugin) {
                measure(program, plugin, given.number("rows", 500'000), given.number("bytes", 300),
                        given.number("per-transaction", 1000));
            }
        }
        return 0;
    } catch (const std::exception& failure) {
        fmt::print(stderr, "bench_drain: {}\n", failure.what());
        return 1;
    }
}
