// By what a row of walrelay.control shows that it was written through walrelay's own table: the
// hash of a secret and of its transaction (sql/control.sql). A table of that name proves nothing.
// Pure.
#pragma once

#include "core/change.hpp"
#include "relay/intake/control_row.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace walrelay::relay {

/// What walrelay.control_proof() gives in the transaction: the SHA-256, in hex digits, of the
/// secret, a colon and pg_current_xact_id(). `transaction` as the column of that name has it.
[[nodiscard]] std::string control_proof(std::string_view secret, std::string_view transaction);

class control_verifier {
public:
    /// Whether the row was written by who may, in the transaction `xid` where the WAL tells it. Not
    /// if there is no secret.
    [[nodiscard]] bool is_proved(const control_row& row, const std::string& secret,
                                 std::optional<transaction_id> xid);

private:
    // Of the last transaction, because its rows come in runs.
    std::string secret_;
    std::string transaction_;
    std::string proof_;
};

}  // namespace walrelay::relay
