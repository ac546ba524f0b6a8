// Writing statuses back, one batch at a time: when one is due, when a failed one is tried again,
// and when somebody should know that one gets no answer. Pure; a part of the relay machine.
#pragma once

#include "core/instant.hpp"
#include "relay/confirm/stall_watch.hpp"
#include "relay/confirm/write_backs.hpp"
#include "relay/machine/backoff.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace walrelay::relay {

class write_back_duty {
public:
    /// `wanted`: see write_backs.
    write_back_duty(bool wanted, backoff_limits limits, std::uint64_t seed)
        : rows_(wanted), backoff_(limits, seed) {}

    /// What is awaited and stored.
    [[nodiscard]] write_backs& rows() { return rows_; }
    [[nodiscard]] const write_backs& rows() const { return rows_; }

    /// Rows of another history are awaited from now on.
    void start_over() { rows_ = write_backs{rows_.wanted()}; }
    /// The connection is gone, and with it whatever was under way.
    void forget();

    /// The batch to be written now; nothing while one is under way, or has just failed.
    [[nodiscard]] std::optional<write_back_batch> next(std::optional<commit_position> stored,
                                                       monotonic_time now);
    [[nodiscard]] bool is_under_way() const { return rows_.in_flight(); }
    /// Of the batch that is, or was last, under way.
    [[nodiscard]] std::size_t table() const { return table_; }
    /// It is committed. Returns how long it took, where it was told that it gets no answer.
    std::optional<std::chrono::milliseconds> written(monotonic_time now);
    /// It is not. Returns how long to wait for the next try, which `retry` begins.
    [[nodiscard]] std::chrono::milliseconds failed(monotonic_time now);
    /// Whether the time to try again has come.
    [[nodiscard]] bool retry(monotonic_time now);
    [[nodiscard]] std::optional<monotonic_time> retry_at() const { return retry_at_; }

    [[nodiscard]] stall_watch& stall() { return stall_; }
    [[nodiscard]] const stall_watch& stall() const { return stall_; }

private:
    write_backs rows_;
    /// After a failed batch.
    backoff backoff_;
    std::optional<monotonic_time> retry_at_;
    stall_watch stall_;
    std::size_t table_ = 0;
};

}  // namespace walrelay::relay
