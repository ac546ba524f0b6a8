// Which transaction a relay names after its start, so that one whose row ends the process can be
// found. Pure.
#pragma once

#include "core/lsn.hpp"

#include <optional>

namespace walrelay::relay {

class first_transaction {
public:
    /// A row that the stream was not known to have is still to come.
    [[nodiscard]] bool is_awaited() const { return is_awaited_; }
    /// A row is on its way, in the transaction that commits at `commit`, and the stream is not
    /// known to have it. Returns whether this is to be said: once of each transaction.
    [[nodiscard]] bool comes(lsn commit) {
        const bool is_news = is_awaited_ && named_ != commit;
        named_ = commit;
        return is_news;
    }
    /// It is here: what follows need not be named.
    void is_here() { is_awaited_ = false; }

private:
    bool is_awaited_ = true;
    std::optional<lsn> named_;
};

}  // namespace walrelay::relay
