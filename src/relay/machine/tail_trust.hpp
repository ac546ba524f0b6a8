// Whether the stream's last message is a checkpoint: the tail is a claim until it is proved. Pure.
//
//     beyond the server's WAL, of a younger or foreign timeline   -> refused, by name
//     published under other rules, or on a branch that was left   -> every row is compared
//     of a transaction that the slot still sends                  -> its row must be met
//     of one that the slot does not send any more                 -> exact
#pragma once

#include "core/error.hpp"
#include "core/lineage.hpp"
#include "core/lsn.hpp"
#include "preflight/preflight.hpp"
#include "relay/lane/lane.hpp"
#include "relay/machine/stream_owner.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace walrelay::relay {

/// What an operator can do where a history is refused.
inline constexpr const char* how_to_accept_history =
    "see that postgres.conninfo leads to the database that the stream was filled from (the "
    "primary, "
    "not an old one or a copy). If it does, because it was restored or failed over on purpose: "
    "walrelay run --accept-history goes on with it once; it compares every row that the slot sends "
    "with the stream, and names the messages whose rows this database does not have";

struct tail_question {
    const stream_tail& tail;
    const std::string& stream;
    /// What the stream's description says; nothing if it is not marked as ours.
    const std::optional<stream_owner>& mark;
    /// fingerprint_of what is relayed now.
    const std::string& rules;
    const server_identity& server;
    /// Where the slot stands.
    lsn slot_confirmed;
    /// An operator has said that the database is the right one, whatever its history.
    bool accepts_history = false;
};

struct tail_answer {
    enum class kind { exact, claim, compare, nothing, refused } what = kind::exact;
    /// Why it is refused.
    std::optional<error> why = {};
    /// For the log: why rows are compared.
    std::string remark = {};
    /// Rows are the same only with the same message id.
    bool compares_ids = false;
};

[[nodiscard]] tail_answer judge(const tail_question& asked);

/// The same of the server's history alone, for where the stream has other writers.
[[nodiscard]] std::optional<error> refuse_history(const tail_question& asked);

/// What `walrelay check` says of the answer: nothing where the next run just goes on.
[[nodiscard]] std::vector<finding> tail_findings(const tail_question& asked, bool sole_writer);

/// The same of a server that is connected after one of the history `before`.
[[nodiscard]] std::optional<error> refuse_successor(const lineage& before, const lineage& now);

/// `failure` of the intake's tail_not_met, with what it means and what to do.
[[nodiscard]] error explain_not_met(error failure, const std::string& slot);

}  // namespace walrelay::relay
