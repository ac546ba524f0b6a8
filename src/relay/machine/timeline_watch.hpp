// On a standby, which may change its timeline under a connection: by its own promotion, or by
// following that of its primary. Pure; a part of the relay machine.
//
// What a standby had replayed while its timeline was still that of the session is of that timeline.
// So a transaction is read only once the server has been asked how far it has replayed. It sends
// nothing that it has not replayed: one answer is enough for all that is on its way.
#pragma once

#include "core/error.hpp"
#include "core/lineage.hpp"
#include "core/lsn.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace walrelay::relay {

class timeline_watch {
public:
    /// A session begins.
    void begin(bool on_standby) {
        up_to_ = on_standby ? std::optional(lsn{}) : std::nullopt;
        asking_ = false;
        may_have_gone_on_ = on_standby;
    }
    void end() {
        up_to_.reset();
        asking_ = false;
    }
    /// Whether the server of the last session can have gone on on another timeline under it. What
    /// the slot was told after the switch, it was told on that one: an idle server tells of no row
    /// that would have been asked about.
    [[nodiscard]] bool may_have_gone_on() const { return may_have_gone_on_; }
    /// A transaction with this commit LSN begins: whether the server must be asked first. Then
    /// nothing is to be read until it has answered.
    [[nodiscard]] bool asks_before(lsn commit) {
        asking_ = up_to_ && commit > *up_to_;
        return asking_;
    }
    [[nodiscard]] bool is_asking() const { return asking_; }
    /// Its answer. An error, with which the connection is given up, where the transaction that was
    /// begun need not be of `timeline`.
    [[nodiscard]] std::optional<error> answered(const result<replay_place>& place,
                                                std::uint32_t timeline, lsn commit,
                                                const std::string& slot);

private:
    /// What is known to be of the session's timeline; nothing on a primary.
    std::optional<lsn> up_to_;
    bool asking_ = false;
    bool may_have_gone_on_ = false;
};

}  // namespace walrelay::relay
