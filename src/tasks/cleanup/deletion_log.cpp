#include "tasks/cleanup/deletion_log.hpp"

#include "core/progress.hpp"
#include "log/log.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace walrelay::tasks {

void deletion_log::add(std::uint64_t deleted, std::chrono::system_clock::time_point stored) {
    constexpr std::chrono::seconds between_lines{10};
    deleted_ += deleted;
    stored_before_ = std::max(stored_before_, stored);
    if (std::chrono::steady_clock::now() - told_at_ > between_lines) {
        tell();
    }
}

void deletion_log::tell() {
    if (deleted_ == 0) {
        return;
    }
    const auto deleted = std::exchange(deleted_, 0);
    log<"rows_deleted">(
        fmt::format("deleted {} of {}, published up to {:%Y-%m-%d %H:%M:%S}Z",
                    counted(deleted, "row"), to_string(table_),
                    fmt::gmtime(std::chrono::system_clock::to_time_t(stored_before_))),
        with<"table">(table_), with<"rows">(deleted));
    told_at_ = std::chrono::steady_clock::now();
}

}  // namespace walrelay::tasks
