// The last lines of the log, for the dashboard.
#pragma once

#include "core/log_entry.hpp"
#include "core/log_line.hpp"

#include <deque>
#include <mutex>
#include <optional>
#include <vector>

namespace walrelay {

/// From any thread.
class log_memory {
public:
    static constexpr std::size_t lines_max = 50;
    static constexpr std::size_t line_bytes_max = 1000;

    /// The oldest one gives way.
    void keep(wall_time at, const log_entry& entry);
    [[nodiscard]] std::vector<log_line> lines() const;
    /// The last warning or error, however long ago; nothing before the first.
    [[nodiscard]] std::optional<log_line> last_trouble() const;

private:
    mutable std::mutex guard_;
    std::deque<log_line> lines_;
    std::optional<log_line> last_trouble_;
};

/// What write_to_log has written.
[[nodiscard]] log_memory& remembered_log();

}  // namespace walrelay
