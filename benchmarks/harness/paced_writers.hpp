// Services that insert into the outbox at a steady rate, each in a connection of its own.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace walrelay::bench {

struct pace {
    std::uint64_t rows_per_second = 1000;
    std::uint64_t rows_per_transaction = 1;
    std::uint64_t seconds = 10;
    std::uint64_t writers = 4;

    [[nodiscard]] std::uint64_t rows() const { return rows_per_second * seconds; }
};

/// Up to 1,000 rows a second each row is a transaction of its own; above, transactions get larger,
/// so that it is not the writers who use up a small machine.
[[nodiscard]] pace pace_of(std::uint64_t rows_per_second, std::uint64_t seconds);

/// Writes the rows 1 to `how.rows()`. Returns for each, at its number, when COMMIT had returned to
/// its writer; index 0 is not used. Throws std::runtime_error.
[[nodiscard]] std::vector<std::chrono::steady_clock::time_point> write_at(
    const std::string& conninfo, const pace& how);

}  // namespace walrelay::bench
