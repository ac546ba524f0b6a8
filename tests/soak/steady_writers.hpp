// Four services that never stop writing, and note when they commit each row.
#pragma once

#include "chaos/dice.hpp"
#include "soak/diary.hpp"
#include "soak/tables.hpp"
#include "soak/workers.hpp"

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

namespace walrelay::soak {

/// What the witness and the stream call a message: the row's id, and of one that is published again
/// this behind it.
inline constexpr const char* published_again = ";republish";

struct committed_row {
    outbox table = outbox::events;
    /// Right before COMMIT was sent: what a row waited is never told too short.
    moment when;
};
using committed_rows = std::unordered_map<std::string, committed_row>;

/// One writes to each table, one to all of them in the same transactions. Some rows are deleted or
/// changed as soon as they are committed, some are published again, and some can never be
/// delivered. What a lost connection leaves open is not noted.
class steady_writers {
public:
    steady_writers(std::string conninfo, std::uint64_t rows_per_second, std::uint64_t seed);
    ~steady_writers();
    steady_writers(const steady_writers&) = delete;
    steady_writers& operator=(const steady_writers&) = delete;

    /// Returns once the last transaction has come to its end.
    void stop() { threads_.stop(); }
    [[nodiscard]] std::uint64_t count() const;
    /// What they were told is committed.
    [[nodiscard]] committed_rows rows() const;

private:
    class writer;
    void note(const std::string& key, const committed_row& row);

    mutable std::mutex mutex_;
    committed_rows rows_;
    std::vector<std::unique_ptr<writer>> writers_;
    workers threads_;
};

}  // namespace walrelay::soak
