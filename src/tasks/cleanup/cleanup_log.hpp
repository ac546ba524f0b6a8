// What the log says of the clean-up of one table: what was deleted, what it waits for, and for
// which messages it deletes nothing. Repeated lines are gathered.
#pragma once

#include "config/settings.hpp"
#include "core/error.hpp"
#include "core/lsn.hpp"
#include "nats/requests/cleanup_cursor.hpp"
#include "tasks/cleanup/deletion_log.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

namespace walrelay::tasks {

class cleanup_log {
public:
    /// `table` is its number in the settings, which must outlive this.
    cleanup_log(const config::settings& settings, std::size_t table);

    [[nodiscard]] deletion_log& deletions() { return deletions_; }
    void stranger(const nats::passed_message& message, const std::string& why);
    /// Was published by other rules than those `since` then.
    void older(const nats::passed_message& message, lsn since);
    void waits(const error& why);
    /// It waits no longer.
    void goes_on();

private:
    /// Messages for which no row is deleted, and that were not told yet.
    struct untold {
        std::uint64_t messages = 0;
        std::chrono::steady_clock::time_point told_at = {};

        std::uint64_t now_with_one_more();
    };

    const config::settings& settings_;
    const outbox_table& table_;
    deletion_log deletions_;
    untold strangers_;
    untold older_;
    std::string told_;  // the failure that was logged last
};

}  // namespace walrelay::tasks
