// What `walrelay dead-letter` is asked for, and the part of the command line that says it.
#pragma once

#include "core/outbox_table.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace CLI {
class App;
}  // namespace CLI

namespace walrelay::app {

enum class dead_letter_action { list, show, retry, drop };

struct dead_letter_request {
    dead_letter_action action = dead_letter_action::list;
    std::vector<std::int64_t> ids = {};
    bool all = false;
    std::optional<table_name> table = {};
    std::int64_t limit = 50;
    bool json = false;
};

/// Adds `dead-letter` and what stands below it to the program, and gives it. `request` must outlive
/// the program; `add_settings` adds the flags of the configuration to each action.
CLI::App* add_dead_letter(CLI::App& program, dead_letter_request& request,
                          const std::function<void(CLI::App&)>& add_settings);

}  // namespace walrelay::app
