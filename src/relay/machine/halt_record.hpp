// Why an operator is needed, and whether that is on its way into the database. Pure.
#pragma once

#include "core/error.hpp"

#include <optional>
#include <utility>

namespace walrelay::relay {

class halt_record {
public:
    void note(const error& why) { why_ = why; }
    [[nodiscard]] const std::optional<error>& why() const { return why_; }

    /// The slot is held until the halt is stored: the next relay that gets it must find that.
    void storing() { storing_ = true; }
    [[nodiscard]] bool is_storing() const { return storing_; }
    /// Returns whether it was waited for.
    bool stored() { return std::exchange(storing_, false); }

private:
    std::optional<error> why_;
    bool storing_ = false;
};

}  // namespace walrelay::relay
