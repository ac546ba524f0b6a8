// Whether the slot still owes a row that it owed at the last look already. It may be a moment
// behind; only who was awaited twice is told of. Pure.
#pragma once

#include "core/error.hpp"
#include "core/instant.hpp"

#include <optional>

namespace walrelay::app {

class awaited_row {
public:
    /// When the oldest row was made that the slot has still to bring; nothing where it owes none.
    /// Errors: postgres_unavailable, where it was the same at the last look.
    [[nodiscard]] result<void> looked(std::optional<wall_time> oldest);

private:
    std::optional<wall_time> before_;
};

}  // namespace walrelay::app
