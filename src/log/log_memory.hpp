// The last lines of the log, for the dashboard.
#pragma once

#include "core/log_line.hpp"

#include <deque>
#include <mutex>
#include <string_view>
#include <vector>

namespace walrelay {

/// From any thread.
class log_memory {
public:
    static constexpr std::size_t lines_max = 50;
    static constexpr std::size_t line_bytes_max = 1000;

    /// The oldest one gives way.
    void keep(wall_time at, std::string_view level, std::string_view text);
    [[nodiscard]] std::vector<log_line> lines() const;

private:
    mutable std::mutex guard_;
    std::deque<log_line> lines_;
};

/// What log_info and the others have written.
[[nodiscard]] log_memory& remembered_log();

}  // namespace walrelay
