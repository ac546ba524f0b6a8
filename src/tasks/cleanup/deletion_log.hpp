// What the log says of rows that clean-up has deleted: their number, now and then.
#pragma once

#include "core/outbox_table.hpp"

#include <chrono>
#include <cstdint>

namespace walrelay::tasks {

class deletion_log {
public:
    /// `table` must outlive this.
    explicit deletion_log(const table_name& table) : table_(table) {}

    /// Rows whose messages were stored up to then; says so where it is time.
    void add(std::uint64_t deleted, std::chrono::system_clock::time_point stored);
    /// What has not been said yet.
    void tell();

private:
    const table_name& table_;
    std::uint64_t deleted_ = 0;
    std::chrono::system_clock::time_point stored_before_;
    std::chrono::steady_clock::time_point told_at_;
};

}  // namespace walrelay::tasks
