// Whether a transaction is open, and what may come next: the rules that both decoders share.
#pragma once

#include "core/change.hpp"
#include "core/error.hpp"
#include "wal/frame_error.hpp"

#include <optional>

namespace walrelay::wal {

/// A call that returns an error changes nothing. The places say what the error is about.
class transaction_state {
public:
    [[nodiscard]] bool is_open() const { return open_.has_value(); }

    /// Errors: frame_unexpected inside a transaction, frame_malformed if the LSN is 0.
    [[nodiscard]] result<void> begin(lsn commit, const place& where);

    /// For everything that stands only inside a transaction. Errors: frame_unexpected.
    [[nodiscard]] result<void> require_open(const place& where) const {
        return open_ ? result<void>{} : outside(where);
    }

    /// Errors: frame_unexpected outside a transaction, frame_malformed if the LSN is not the one
    /// that the transaction began with or does not lie before the end.
    [[nodiscard]] result<void> commit(const transaction_commit& finished, const place& where);

private:
    [[nodiscard]] static error outside(const place& where);

    std::optional<lsn> open_;
};

}  // namespace walrelay::wal
