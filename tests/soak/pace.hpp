// How long the disturbances of a soak last, and how close together they come.
#pragma once

#include <chrono>

namespace walrelay::soak {

struct span {
    std::chrono::milliseconds shortest{};
    std::chrono::milliseconds longest{};
};

struct pace {
    /// Transactions of other sessions, and one that is prepared and left alone.
    span report;
    span idle_transaction;
    span prepared;
    /// A table that nobody else can write, or a few rows that nobody else can update.
    span table_lock;
    span row_lock;
    /// From the end of one lock to the next.
    span between_locks;
    /// Nobody reads the relay's log.
    span log_pause;
    span between_restarts;
    /// What one partition of the partitioned outbox takes in, and how long it is kept after that.
    std::chrono::seconds partition;
    std::chrono::seconds partition_kept;
};

/// For runs of many minutes.
[[nodiscard]] constexpr pace usual_pace() {
    using namespace std::chrono_literals;
    return {.report = {180s, 300s},
            .idle_transaction = {120s, 240s},
            .prepared = {240s, 480s},
            .table_lock = {15s, 15s},
            .row_lock = {40s, 90s},
            .between_locks = {40s, 80s},
            .log_pause = {60s, 60s},
            .between_restarts = {50s, 80s},
            .partition = 20s,
            .partition_kept = 60s};
}

/// The same disturbances in less than a minute.
[[nodiscard]] constexpr pace short_pace() {
    using namespace std::chrono_literals;
    return {.report = {20s, 30s},
            .idle_transaction = {15s, 25s},
            .prepared = {20s, 30s},
            .table_lock = {2s, 3s},
            .row_lock = {4s, 6s},
            .between_locks = {4s, 6s},
            .log_pause = {8s, 12s},
            .between_restarts = {10s, 12s},
            .partition = 5s,
            .partition_kept = 10s};
}

}  // namespace walrelay::soak
