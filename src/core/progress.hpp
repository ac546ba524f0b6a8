// How far a long piece of work has come, in words: rows, rate, share and time left.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace walrelay {

struct progress {
    std::uint64_t done = 0;
    std::uint64_t total = 0;
    /// The total is an estimate, such as PostgreSQL's of the rows of a table.
    bool is_estimate = false;
    /// Since the work began.
    double seconds = 0;
};

/// "41,000".
[[nodiscard]] std::string with_thousands(std::uint64_t number);

/// "1 row", "41,000 rows".
[[nodiscard]] std::string counted(std::uint64_t count, std::string_view noun);

/// "90 s left", "3 min left".
[[nodiscard]] std::string time_left(double seconds);

/// "41,000 of 100,000 rows, 12,300 a second, 41 %, 5 s left"; of an estimate "of about 100,000",
/// and without share and time left once more is done than was expected.
[[nodiscard]] std::string describe(const progress& how_far, std::string_view of_what);

}  // namespace walrelay
