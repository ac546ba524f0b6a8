#include "log/log_memory.hpp"

#include "core/one_line.hpp"

#include <string>

namespace walrelay {

void log_memory::keep(wall_time at, const log_entry& entry) {
    log_line line{at, std::string(to_string(entry.severity())), std::string(entry.event().name),
                  one_line(entry.text(), line_bytes_max)};
    const std::scoped_lock lock(guard_);
    if (entry.severity() == log_severity::warning || entry.severity() == log_severity::error) {
        last_trouble_ = line;
    }
    lines_.push_back(std::move(line));
    if (lines_.size() > lines_max) {
        lines_.pop_front();
    }
}

std::vector<log_line> log_memory::lines() const {
    const std::scoped_lock lock(guard_);
    return {lines_.begin(), lines_.end()};
}

std::optional<log_line> log_memory::last_trouble() const {
    const std::scoped_lock lock(guard_);
    return last_trouble_;
}

log_memory& remembered_log() {
    static log_memory memory;
    return memory;
}

}  // namespace walrelay
