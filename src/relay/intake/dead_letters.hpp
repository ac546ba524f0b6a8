// What becomes of a row that cannot be delivered. Pure.
#pragma once

#include "core/change.hpp"
#include "core/dead_letter.hpp"
#include "core/error.hpp"
#include "core/instant.hpp"
#include "core/log_entry.hpp"
#include "core/message.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace walrelay::relay {

/// What the broker said of a message that it will never take.
struct condemnation {
    error why;
    std::int32_t error_code = 0;  // JetStream's err_code; 0 if there is none
    std::uint32_t attempts = 0;
};

/// `content` is as far filled as the row could be mapped; `content.where` and
/// `content.committed_at` are set.
[[nodiscard]] dead_letter make_dead_letter(const table_name& source, const row_insert& row,
                                           const message& content, const condemnation& reason);

/// One line for the log: which row was set aside, why, and how to see and retry it.
[[nodiscard]] std::string describe(const dead_letter& letter);

/// In the order of their rows.
using dead_letters = std::vector<dead_letter>;

/// Rows that are set aside and not yet stored. One batch is stored at a time, and what comes
/// meanwhile makes the next one: a single letter never waits for others.
class dead_letter_queue {
public:
    /// Of what is held in memory; one letter may be larger.
    explicit dead_letter_queue(std::size_t most_bytes) : most_bytes_(most_bytes) {}

    [[nodiscard]] bool has_room() const { return bytes_ < most_bytes_; }
    [[nodiscard]] bool empty() const { return waiting_.empty() && under_way_ == nullptr; }
    void add(dead_letter letter);
    /// What is to be stored now: null while a batch is under way, and where there is none.
    [[nodiscard]] std::shared_ptr<const dead_letters> next_batch();
    /// The batch that was under way, which must be one.
    [[nodiscard]] std::shared_ptr<const dead_letters> stored();
    [[nodiscard]] bool is_storing() const { return under_way_ != nullptr; }
    /// What was under way; null if nothing was.
    std::shared_ptr<const dead_letters> clear();

private:
    std::size_t most_bytes_;
    std::size_t bytes_ = 0;
    std::size_t bytes_under_way_ = 0;
    std::deque<dead_letter> waiting_;
    std::shared_ptr<const dead_letters> under_way_;
};

/// What the log says of letters that were stored: each of the first, then how many more there were.
/// Rows that cannot be delivered can come by the thousand.
class dead_letter_log {
public:
    /// The line of this one; nothing where it is only counted.
    [[nodiscard]] std::optional<log_entry> stored(const dead_letter& letter, monotonic_time now);
    /// When `summary` has something to say.
    [[nodiscard]] std::optional<monotonic_time> deadline() const;
    /// Of those that were only counted; nothing where there were none.
    [[nodiscard]] std::optional<log_entry> summary();

private:
    std::optional<monotonic_time> since_;
    std::size_t told_ = 0;
    std::map<table_name, std::uint64_t> counted_;
    std::string last_;
};

}  // namespace walrelay::relay
