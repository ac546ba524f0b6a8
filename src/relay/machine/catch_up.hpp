// Whether everything is stored that was committed before the relay began to stream, or before it
// came back to the broker with a full window. Pure.
//
//   begun with the end of the server's WAL, or unknown -> (a keepalive says how far it is) -> all
//   up to there is stored: over, until it begins again
#pragma once

#include "core/lsn.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>

namespace walrelay::relay {

class catch_up {
public:
    /// The slot streams; the server's WAL ends there, as far as that is known.
    void begin(lsn wal_end) {
        received_ = lsn{};
        until_ = wal_end.value == std::numeric_limits<std::uint64_t>::max()
                     ? std::nullopt
                     : std::optional(wal_end);
        over_ = false;
    }
    /// The slot does not stream any more.
    void end() { over_ = false; }
    /// The broker is back. While the window was full nothing was read, so that nobody knows what
    /// the server has by now.
    void broker_is_back(bool window_is_full) {
        over_ = false;
        until_ = window_is_full ? std::nullopt : std::optional(std::max(received_, until()));
    }
    void received(lsn up_to) { received_ = std::max(received_, up_to); }
    /// Outside a transaction: the server has sent everything up to here.
    void alive(lsn end) { until_ = until_.value_or(end); }
    /// All transactions that end up to here are stored.
    void stored(lsn up_to) { over_ = over_ || (until_ && up_to >= *until_); }

    [[nodiscard]] bool is_over() const { return over_; }

private:
    [[nodiscard]] lsn until() const { return until_.value_or(lsn{}); }

    lsn received_;
    std::optional<lsn> until_;
    bool over_ = false;
};

}  // namespace walrelay::relay
