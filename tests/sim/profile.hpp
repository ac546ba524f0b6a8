// What one seed simulates: the shape of the servers and of the load, and which faults strike how
// often. Every seed enables a random subset of the faults, so that rare ones meet each other.
#pragma once

#include "core/facts.hpp"
#include "sim/randomness.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace walrelay::sim {

/// Which nats-server, and whether the stream has replicas: they check a publish in another order.
enum class generation {
    single_2_9,
    single_2_12,
    cluster_2_9,
    cluster_2_10,
    cluster_2_11,
    cluster_2_12,
};
[[nodiscard]] const char* to_string(generation which);
[[nodiscard]] constexpr bool is_cluster(generation which) {
    return which >= generation::cluster_2_9;
}

/// An id that was staged for a publish that then failed stays taken for the duplicate window.
[[nodiscard]] constexpr bool forgets_no_failed_id(generation which) {
    return which == generation::cluster_2_10 || which == generation::cluster_2_11;
}

/// Faults that strike a single message or a single try, with a rate.
enum class hazard {
    publish_dropped,     // on its way, with no reply
    publish_rejected,    // for a reason that passes
    publish_unsendable,  // the client library refuses to send it
    reply_lost,
    reply_late,
    reply_doubled,
    reply_of_old_epoch,  // delivered although its connection is gone
    tail_stale,          // the stream is read from a server that is behind
    mark_fails,          // the stream's description is not changed, or nobody says that it is
    broker_refuses,      // a connect
    postgres_refuses,    // a connect
    frame_cuts_connection,
    slot_lingers,     // the server notices late that its client is gone
    connection_full,  // takes no more publishes for a while
    count,
};

/// Faults that strike from time to time.
enum class mishap {
    broker_cut,
    broker_crash,
    leader_change,
    power_loss,
    stranger_writes,
    forger_writes,    // a stranger, with a position as walrelay writes them
    stream_trimmed,   // of messages that the slot has confirmed
    limit_changes,    // the server's max_payload
    operator_wanted,  // the stream refuses until somebody changes it
    postgres_cut,
    postgres_crash,
    promotion,  // the primary is lost for good, and a standby takes its place
    restore,    // of a copy of the database's disk
    relay_kill,
    relay_stop,
    relay_pause,
    slot_dropped,   // only where the relay may heal that
    slot_advanced,  // past rows, by somebody; nothing else is wrong then
    configuration,  // changes: every relay is ended, and starts with another one
    count,
};

struct profile {
    // The servers.
    generation stream = generation::single_2_9;
    output_plugin plugin = output_plugin::pgoutput;
    bool sends_empty_transactions = false;
    sim_time duplicate_window{0};
    /// What was stored less than this ago is gone after a power loss.
    sim_time forgets{0};
    sim_time sender_timeout{0};  // 0 is never
    sim_time broker_latency{0};
    /// What an ended client sent may arrive later than it ended.
    bool has_stragglers = true;
    sim_time postgres_latency{0};
    std::size_t socket_frames = 1;
    // The load.
    std::size_t writers = 1;
    std::size_t transactions = 1;
    std::size_t rows_max = 1;
    std::uint32_t poison = 0;   // rows in a thousand
    std::uint32_t updates = 0;  // the same, that publish a row again
    sim_time writer_pause{0};
    // The relay.
    std::size_t relays = 1;
    /// At first.
    bool sole_writer = true;
    bool sole_writer_changes = false;
    bool write_backs = false;
    sim_time confirm_delay{0};
    /// There is no slot at first, and a slot that is gone is healed from the table.
    bool backfills = false;
    std::size_t window_messages = 1;
    /// The relay looks at no more of the stream's last messages; at twice the window at least.
    std::uint64_t look_back = 1;
    std::size_t window_bytes = 1;
    sim_time ack_timeout{0};
    sim_time backoff_initial{0};
    sim_time backoff_max{0};
    // The faults.
    sim_time faulty_time{0};
    std::array<std::uint32_t, static_cast<std::size_t>(hazard::count)> rates{};  // per mille
    std::array<sim_time, static_cast<std::size_t>(mishap::count)> intervals{};   // 0 is never
    /// Of calls of a relay's surroundings that end with an exception, and with it the program. They
    /// are drawn aside, so that a seed without them goes on as it did before there were any.
    std::uint32_t throws_per_million = 0;
    std::uint64_t throws_seed = 0;
    /// After so many of 1,000 commits rows of earlier are replayed.
    std::uint32_t replays = 0;
    std::uint64_t replay_seed = 0;
    /// Of publishes from which on somebody else acks, in the broker's place, what never gets there,
    /// until the connection ends.
    std::uint32_t forged_acks_per_million = 0;
    std::uint64_t forged_acks_seed = 0;
    /// How often the stream loses what was stored long ago: it is cut, emptied, or another one
    /// takes its place, while no relay runs or while one takes over from another. 0 is never.
    sim_time harm_interval{0};
    /// Also by a stream that somebody else has filled.
    bool is_swapped = false;
    std::uint64_t harm_seed = 0;
    /// After a promotion rows get the ids of those that were lost with it, as sequences do.
    bool ids_come_again = false;

    [[nodiscard]] std::uint32_t rate(hazard which) const {
        return rates[static_cast<std::size_t>(which)];
    }
    [[nodiscard]] sim_time interval(mishap which) const {
        return intervals[static_cast<std::size_t>(which)];
    }
    [[nodiscard]] bool has(mishap which) const { return interval(which) > sim_time(0); }
    /// Whether all messages are in the order of the commits, and not just those of an aggregate.
    [[nodiscard]] bool orders_all() const { return sole_writer && !sole_writer_changes; }
    /// Whether somebody else writes into the stream.
    [[nodiscard]] bool has_strangers() const {
        return has(mishap::stranger_writes) || has(mishap::forger_writes);
    }
};

[[nodiscard]] const char* to_string(hazard which);
[[nodiscard]] const char* to_string(mishap which);
/// The same for the same state of `random`.
[[nodiscard]] profile draw_profile(randomness& random);
/// Several lines for people.
[[nodiscard]] std::string describe(const profile& drawn);

}  // namespace walrelay::sim
