// How long a slot has until PostgreSQL may take its WAL away (max_slot_wal_keep_size), if it goes
// on as in the last minutes. Pure.
#pragma once

#include "core/instant.hpp"

#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>

namespace walrelay {

class wal_forecast {
public:
    /// What pg_replication_slots.safe_wal_size says; nothing where there is no limit, or nobody
    /// could be asked.
    void add(monotonic_time at, std::optional<std::int64_t> safe_wal_bytes);

    /// Nothing where there is no limit, where it does not come nearer, and before it has been
    /// watched for half a minute.
    [[nodiscard]] std::optional<std::chrono::seconds> left() const;

private:
    struct reading {
        monotonic_time at;
        std::int64_t safe_wal_bytes;
    };
    std::deque<reading> readings_;
};

}  // namespace walrelay
