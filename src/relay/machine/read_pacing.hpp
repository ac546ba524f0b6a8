// When the reader leaves rows to gather before it reads on. Pure.
//
// The walsender sends each row for itself and wakes whoever waits for it. Where rows come faster
// than they can be handled one by one on a small machine, that has no end: the reader takes the
// processor from the walsender after each row, rows grow old, and batches stay small. So a reader
// that is late, and finds little, rests for a moment. What is on time is never held up; what is
// late already gains more than the rest costs.
//
// How late is told by the server's clock alone: when it sent the row (src/backend/replication/
// walsender.c, WalSndWriteData) and when the row's transaction committed.
#pragma once

#include <chrono>
#include <cstddef>
#include <utility>

namespace walrelay::relay {

class read_pacing {
public:
    /// A frame of `bytes` was read.
    void took(std::size_t bytes) { bytes_ += bytes; }
    /// It was sent so long after its transaction's commit.
    void was_sent_after(std::chrono::microseconds age) { is_late_ = age > late; }

    /// All that had arrived is read: how long not to read on. The next turn begins.
    [[nodiscard]] std::chrono::microseconds end_turn() {
        const bool little = std::exchange(bytes_, 0) < much_bytes;
        return is_late_ && little ? rest : std::chrono::microseconds(0);
    }

private:
    static constexpr std::chrono::microseconds late{2000};
    static constexpr std::chrono::microseconds rest{500};
    /// So much at once is a batch already, and half of what libpq reads at once.
    static constexpr std::size_t much_bytes = std::size_t{8} * 1024;

    std::size_t bytes_ = 0;
    bool is_late_ = false;
};

}  // namespace walrelay::relay
