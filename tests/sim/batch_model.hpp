// Fast batches as nats-server 2.14 and newer keeps them: which messages of one are taken, and what
// is answered to which. Source: nats-server, server/stream.go (processJetStreamFastBatchMsg) and
// server/jetstream_batching.go at 2.15.
#pragma once

#include "sim/world.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

namespace walrelay::sim {

/// Of a publish: the batch that it is part of.
struct batch_place {
    std::string name;
    std::uint64_t number = 1;
    bool ends = false;
};

class batch_model {
public:
    using say = std::function<void(const std::string& body)>;

    /// A message of a batch arrives. Whether it is to be stored, unless the stream objects; what is
    /// to be answered at once goes to `answer`.
    [[nodiscard]] bool begins_to_take(const batch_place& place, sim_time now, const say& answer);
    /// The stream objects, in these words: another message has its id, or what they say.
    void objected(const batch_place& place, bool is_duplicate, const std::string& words,
                  const say& answer);
    /// It will be stored.
    void taken(const batch_place& place) { ++open_[place.name].pending; }
    /// It is stored at that sequence, by the leader that took it.
    void stored(const batch_place& place, std::uint64_t sequence, const say& answer);
    /// The same by another one, which answers nobody.
    void stored_by_follower(const batch_place& place, std::uint64_t sequence);

    /// Another leader knows what was stored, and nothing of what was only taken.
    void change_leader();
    void forget() { open_.clear(); }

private:
    struct batch {
        std::uint64_t last = 0;         // the highest number that was taken
        std::uint64_t last_stored = 0;  // and of what is stored
        std::uint64_t stored_at = 0;    // in the stream
        std::uint64_t pending = 0;
        bool ends = false;
        sim_time touched{0};
    };

    void end(const std::string& name, const say& answer);

    std::map<std::string, batch> open_;
};

}  // namespace walrelay::sim
