// The stream as nats-server keeps it: which checks a publish meets, in which order, by server
// generation. Sources: nats-server, server/stream.go (processJetStreamMsg) and
// server/jetstream_cluster.go (processClusteredInboundMsg) at 2.9.10, 2.10.29, 2.11.17, 2.12.15.
//
//   single 2.9      apply: duplicate, then expected sequence
//   single 2.12     apply: expected sequence, then duplicate
//   cluster 2.9     apply: duplicate, then expected sequence
//   cluster 2.10    leader: duplicate, id staged with sequence 0; apply: expected sequence. An id
//                   that was staged and then failed answers a duplicate at 0 until the window ends
//   cluster 2.11    as 2.10, but answers 10158, and a new leader forgets what was staged
//   cluster 2.12    leader: duplicate, then expected sequence against what is proposed
#pragma once

#include "sim/checker.hpp"
#include "sim/profile.hpp"
#include "sim/world.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace walrelay::sim {

/// What a client published.
struct published {
    std::string id;
    std::string subject;
    std::string body;
    std::string position;
    std::optional<std::uint64_t> expected_last_sequence;
    /// By somebody else, whatever its position says.
    bool forged = false;
};

class stream_model {
public:
    stream_model(world& where, const profile& how, checker& watch);

    /// The leader looks at it before it is proposed to the replicas; an answer ends it there. Only
    /// for clusters.
    [[nodiscard]] std::optional<std::string> check_at_leader(const published& what);
    /// The leader has proposed it.
    void proposed(const published& what);
    /// It is the stream's turn to take it: the answer as JSON.
    std::string apply(const published& what);

    void change_leader();
    /// The server starts again with what it has on disk: all but the last `lost` messages.
    void restart(std::size_t lost) { lose(lost, false); }
    /// A new leader lacks the last `lost` messages, and no connection ends for it.
    void roll_back(std::size_t lost) { lose(lost, true); }

    /// The server starts again with the first `kept` messages, or with those of a backup: the rest
    /// was stored long ago, and is gone. Then `strangers` messages of somebody else follow. `slot`
    /// is where the slot stands.
    void harm(std::size_t kept, std::size_t strangers, lsn slot);

    /// Drops the messages before this sequence; their ids stay known.
    void trim(std::uint64_t before);

    /// Of the first message that is still there; behind the last where none is.
    [[nodiscard]] std::uint64_t first_sequence() const { return first_sequence_; }
    [[nodiscard]] std::uint64_t last_sequence() const { return messages_.size(); }
    /// Null where it is not there (any more).
    [[nodiscard]] const stored_message* message(std::uint64_t sequence) const;
    /// Whether a message with this id ever was there, of no branch that was left.
    [[nodiscard]] bool has(const std::string& id,
                           const std::function<bool(const position&)>& is_left) const;
    /// All that ever were, also those that were trimmed.
    [[nodiscard]] const std::vector<stored_message>& messages() const { return messages_; }

private:
    struct known_id {
        std::uint64_t sequence = 0;  // 0 while it is only staged
        sim_time since{0};
    };

    void lose(std::size_t count, bool unseen);
    void keep_first(std::size_t count);
    const known_id* find(const std::string& id);
    [[nodiscard]] std::optional<std::string> check_sequence(const published& what,
                                                            std::uint64_t last) const;
    [[nodiscard]] std::optional<std::string> check_duplicate(const published& what);

    world& world_;
    const profile& profile_;
    checker& checker_;
    std::vector<stored_message> messages_;
    std::map<std::string, known_id> ids_;
    std::uint64_t first_sequence_ = 1;
    std::uint64_t proposed_ = 0;  // the sequence that the last proposal will have
};

/// {"error":{...}} as nats-server writes it.
[[nodiscard]] std::string error_reply(int code, int error_code, const std::string& description);

}  // namespace walrelay::sim
