// nats-server and the network to it: connections, publishes on their way, replies on their way,
// replicas that agree late, leaders that change, crashes.
#pragma once

#include "core/error.hpp"
#include "core/facts.hpp"
#include "relay/lane/publish_outcome.hpp"
#include "sim/profile.hpp"
#include "sim/stream_model.hpp"
#include "sim/world.hpp"

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace walrelay::sim {

/// What the client of a connection is told.
struct broker_events {
    /// With the number that it gave to the publish.
    std::function<void(std::uint64_t index, const std::string& body)> on_reply;
    std::function<void(const error&)> on_lost;
    std::function<void(const std::string& body)> on_stream_info;
};

class broker;

/// One connection, both its ends.
class broker_connection {
public:
    /// False where the library refuses to send.
    [[nodiscard]] bool publish(std::uint64_t index, published what);
    void ask_stream();
    /// What was sent may still arrive, in part, and late.
    void close();

private:
    friend class broker;
    broker_connection(broker& server, broker_events events);

    broker& server_;
    broker_events events_;
    bool client_there_ = true;
    bool server_there_ = true;
    sim_time next_arrival_{0};
    sim_time next_reply_{0};
    std::uint64_t sent_ = 0;
    /// How many of the publishes that were sent arrive; the rest is lost with the connection.
    std::optional<std::uint64_t> arriving_;
    sim_time late_by_{0};
    /// Somebody else acks, and nothing arrives.
    bool is_forged_ = false;
    /// The greatest sequence that the client was told, and what that was when it sent each publish.
    std::uint64_t acked_ = 0;
    std::map<std::uint64_t, std::uint64_t> acked_before_;
};

using connection_handle = std::shared_ptr<broker_connection>;

struct broker_session {
    connection_handle connection;
    broker_facts facts;
};

class broker {
public:
    broker(world& where, const profile& how, checker& watch);

    /// Asks for a connection; connects, looks at the stream, and answers later.
    void connect(broker_events events, std::uint64_t look_back, std::uint64_t asks_for,
                 std::function<void(result<broker_session>)> answer);

    void cut();
    /// All that was acked is there again.
    void crash() { crash(0); }
    /// What was not yet written to the disk is gone.
    void lose_power();
    /// The server starts again without what was stored long ago, and perhaps with messages of
    /// somebody else in its place; where the stream was `made_again`, with another creation. The
    /// slot stands at `slot`.
    struct store_loss {
        std::size_t kept = 0;
        std::size_t strangers = 0;
        bool made_again = false;
    };
    void harm(store_loss how, lsn slot);
    void change_leader();
    void stranger_writes();
    /// He gives his message a position.
    void forger_writes(const position& where);
    /// Drops the messages before this sequence, as the stream's limits do.
    void trim(std::uint64_t before);
    /// The server is told of another max_payload, and connections that break it are ended.
    void change_limit();
    /// What was not yet written to the disk is gone, and no connection with it.
    void lose_messages();
    /// From now on the stream refuses everything, until `mend`.
    void break_configuration() { broken_ = true; }
    void mend() { broken_ = false; }
    [[nodiscard]] bool is_broken() const { return broken_; }
    [[nodiscard]] const stream_model& stream() const { return stream_; }
    /// As if this had been its description from the start.
    void begin_described(std::string description) { description_ = std::move(description); }
    [[nodiscard]] bool is_described() const { return !description_.empty(); }
    void read_message(std::uint64_t sequence, std::function<void(result<asked_message>)> answer);
    /// Changes the stream's description, or does not; `answer` gets later what the stream ends with
    /// where it is known to have been changed. Errors: broker_lost (refused), broker_unavailable.
    void describe(std::string description, std::function<void(result<std::uint64_t>)> answer);

private:
    friend class broker_connection;
    struct proposal {
        published what;
        connection_handle from;
        std::uint64_t index = 0;
        std::uint64_t term = 0;
    };

    void look(broker_session session, std::uint64_t look_back, std::uint64_t asks_for,
              std::function<void(result<broker_session>)> answer);
    void read_asked(stream_facts& seen, std::uint64_t sequence) const;
    void read_tail(stream_facts& seen, std::uint64_t look_back) const;
    static void see(stream_facts& seen, const stored_message& message);
    void arrived(const connection_handle& from, std::uint64_t index, const published& what);
    [[nodiscard]] bool is_kept_away(broker_connection& from, const published& what);
    void write_as_stranger(const published& what);
    void crash(std::size_t lost_messages);
    void go_down();
    void come_up(sim_time after);
    [[nodiscard]] std::size_t young_messages();
    [[nodiscard]] std::optional<std::string> passing_trouble();
    void propose(const connection_handle& from, std::uint64_t index, const published& what);
    void apply_next();
    void reply(const connection_handle& to, std::uint64_t index, const std::string& body);
    void deliver(const connection_handle& to, std::uint64_t index, const std::string& body);
    void answer_stream_info(const connection_handle& to);
    void note_ack(broker_connection& to, std::uint64_t index,
                  const relay::publish_outcome& outcome);
    void end(const connection_handle& connection, error why);
    [[nodiscard]] connection_handle handle_of(const broker_connection& connection) const;
    [[nodiscard]] sim_time latency();

    world& world_;
    const profile& profile_;
    checker& checker_;
    stream_model stream_;
    std::vector<connection_handle> connections_;
    std::deque<proposal> proposals_;
    sim_time next_apply_{0};
    std::uint64_t term_ = 0;
    std::string description_;
    wall_time created_{};
    bool up_ = true;
    bool has_leader_ = true;
    bool broken_ = false;
    std::uint64_t max_payload_bytes_ = database::max_payload_bytes;
    std::uint64_t strangers_ = 0;
    // Drawn aside, so that seeds without them tell the same story.
    randomness forger_dice_;
};

}  // namespace walrelay::sim
