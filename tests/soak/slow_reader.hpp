// Reads the relay's log, slowly and with long pauses, as a log collector in trouble would.
#pragma once

#include "chaos/dice.hpp"
#include "soak/diary.hpp"
#include "soak/pace.hpp"
#include "soak/workers.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <mutex>
#include <string>
#include <vector>

namespace walrelay::soak {

struct log_line {
    moment when;
    /// "info", "warning" and so on.
    std::string level;
    std::string text;
};

/// A named pipe of the smallest size. It stays open, so that one relay after the other writes to
/// it.
class slow_reader {
public:
    /// Makes the pipe. Throws std::system_error.
    slow_reader(const std::filesystem::path& pipe, const span& pause, diary& book,
                std::uint64_t seed);
    ~slow_reader();
    slow_reader(const slow_reader&) = delete;
    slow_reader& operator=(const slow_reader&) = delete;

    /// Reads at once what is left. The relay has ended.
    void finish();
    /// All of it, as it came.
    [[nodiscard]] std::string text() const;
    /// The lines that can be read as such: what a killed relay left unfinished cannot.
    [[nodiscard]] std::vector<log_line> lines() const;

private:
    /// False if there is nothing at the moment.
    bool take(std::size_t most_bytes);
    void read_slowly(chaos::dice& random);

    int descriptor_ = -1;
    span pause_;
    diary& book_;
    mutable std::mutex mutex_;
    std::string text_;
    workers thread_;
};

}  // namespace walrelay::soak
