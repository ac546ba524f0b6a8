// The figures that the hot path is held to (figures.txt), and one run of the program that shows
// what it costs now. Knows nothing of what the program does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <ostream>
#include <string>
#include <vector>

namespace walrelay::test {

/// One line of the file.
struct figure {
    /// The words that the program takes, see hot_path_case.hpp.
    std::vector<std::string> words;
    double allocations = 0;
    double instructions = 0;
};

/// The words, parted by `separator`.
[[nodiscard]] std::string name_of(const figure& of, char separator);
void PrintTo(const figure& of, std::ostream* out);

/// The whole file; throws std::runtime_error for a line that is no figure.
[[nodiscard]] std::vector<figure> read_figures();

/// Enough that the odd growth of a queue is nothing beside them.
inline constexpr std::size_t measured_events = 2000;

/// What the program allocates for one event.
[[nodiscard]] double allocations_per_event(const figure& of);

struct profiled {
    double instructions_per_event = 0;
    std::filesystem::path profile;
};
/// How many instructions it takes for one event, under callgrind, which leaves its profile behind.
[[nodiscard]] profiled instructions_per_event(const figure& of);

}  // namespace walrelay::test
