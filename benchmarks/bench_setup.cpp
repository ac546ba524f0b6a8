#include "bench_setup.hpp"

#include <stdexcept>
#include <utility>

namespace walrelay::bench {
namespace {

constexpr const char* outbox_table_sql =
    "CREATE TABLE outbox_events (id bigint PRIMARY KEY, aggregate_type varchar(255) NOT NULL, "
    "aggregate_id varchar(255) NOT NULL, event_type varchar(255) NOT NULL, "
    "event_data jsonb NOT NULL, metadata jsonb, version bigint NOT NULL DEFAULT 1, "
    "created_at timestamptz NOT NULL DEFAULT now())";

}  // namespace

std::string arguments::text(const std::string& name, const std::string& otherwise) const {
    for (int index = 1; index + 1 < count_; ++index) {
        if ("--" + name == values_[index]) {
            return values_[index + 1];
        }
    }
    return otherwise;
}

long arguments::number(const std::string& name, long otherwise) const {
    return std::stol(text(name, std::to_string(otherwise)));
}

bench_setup::bench_setup(std::string walrelay)
    : postgres({{"fsync = on", "max_wal_size = 4GB"}}), walrelay_(std::move(walrelay)) {
    postgres.session().execute(outbox_table_sql);
}

test::relay_start bench_setup::how(const std::string& command, const std::string& plugin) const {
    return {walrelay_,
            {command, "--postgres", postgres.conninfo(), "--nats", nats.url(), "--table",
             "public.outbox_events", "--plugin", plugin},
            folder_.path()};
}

void bench_setup::init(const std::string& plugin) const {
    const auto made = test::run_to_end(how("init", plugin), std::chrono::seconds(30));
    if (made.exit_code != 0) {
        throw std::runtime_error("walrelay init failed:\n" + made.errors);
    }
}

}  // namespace walrelay::bench
