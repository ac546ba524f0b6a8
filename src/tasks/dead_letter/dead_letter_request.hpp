// What `walrelay dead-letter` is asked for. Plain data.
#pragma once

#include "core/outbox_table.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace walrelay::tasks {

enum class dead_letter_action { list, show, retry, drop };

struct dead_letter_request {
    dead_letter_action action = dead_letter_action::list;
    std::vector<std::int64_t> ids = {};
    bool all = false;
    /// list: no others than those whose row is still to become a message.
    bool open = false;
    std::optional<table_name> table = {};
    std::int64_t limit = 50;
    bool json = false;
    /// list: the rows that an operator went on without, in place of the dead letters.
    bool given_up = false;
    /// Drops all without asking.
    bool is_sure = false;
};

}  // namespace walrelay::tasks
