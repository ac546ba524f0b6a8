#include "wal/transaction_state.hpp"

#include <string>

namespace walrelay::wal {

result<void> transaction_state::begin(lsn commit, const place& where) {
    if (open_) {
        return frame_error(
            errc::frame_unexpected, where,
            "begins a transaction inside the one that commits at " + to_string(*open_));
    }
    if (commit == lsn{}) {
        return frame_error(errc::frame_malformed, where, "begins a transaction without an LSN");
    }
    open_ = commit;
    return {};
}

result<void> transaction_state::commit(const transaction_commit& finished, const place& where) {
    if (!open_) {
        return outside(where);
    }
    if (finished.commit != *open_) {
        return frame_error(errc::frame_malformed, where,
                           "commits at " + to_string(finished.commit) +
                               " a transaction that began with " + to_string(*open_));
    }
    if (finished.end <= finished.commit) {
        return frame_error(errc::frame_malformed, where,
                           "ends at " + to_string(finished.end) +
                               " a transaction that commits only at " + to_string(finished.commit));
    }
    open_.reset();
    return {};
}

error transaction_state::outside(const place& where) {
    return frame_error(errc::frame_unexpected, where, "stands outside any transaction");
}

}  // namespace walrelay::wal
