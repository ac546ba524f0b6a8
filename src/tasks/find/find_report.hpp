// What was found of events, for people and for programs.
#pragma once

#include "tasks/find/event_search.hpp"

#include <string>

namespace walrelay::tasks {

/// A line for each thing, whatever the values of rows and messages hold.
[[nodiscard]] std::string text_of(const found_events& found);

/// One object; docs/json.md describes it.
[[nodiscard]] std::string json_of(const found_events& found);

}  // namespace walrelay::tasks
