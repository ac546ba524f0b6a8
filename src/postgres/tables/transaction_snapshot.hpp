// Which transactions have ended, as PostgreSQL says it. Pure.
// Source: PostgreSQL documentation, "Transaction ID and Snapshot Information Functions".
#pragma once

#include "core/change.hpp"

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace walrelay::postgres {

class transaction_snapshot {
public:
    /// The text of a pg_snapshot, `xmin:xmax:xip,...`; nothing for any other.
    [[nodiscard]] static std::optional<transaction_snapshot> parse(std::string_view text);

    /// Whether the transaction had ended. `xid` is taken for the one next to xmax of those that
    /// have this number, which wraps around: no session can know of one 2^31 away.
    [[nodiscard]] bool shows(transaction_id xid) const;

private:
    /// Epoch and number, as in an xid8.
    std::uint64_t oldest_running_ = 0;
    std::uint64_t first_not_seen_ = 0;
    std::vector<std::uint64_t> running_;
};

}  // namespace walrelay::postgres
