// The relay's decisions: events in, actions out. Pure: no socket, no clock, no thread.
//
//   broker    idle -> connecting -> up -> (lost: waiting -> connecting ...)
//   postgres  idle -> connecting -> up -> (lost: waiting -> connecting ...), first when the
//             stream's tail is known
//   phase     running -> draining (no more reading, acks are awaited) -> closing (the slot is told)
//             -> ended
//
// After every event the driver takes actions until there are none, and calls `time_passed` when
// `deadline` is reached.
#pragma once

#include "core/facts.hpp"
#include "core/instant.hpp"
#include "relay/action.hpp"
#include "relay/feedback.hpp"
#include "relay/intake.hpp"
#include "relay/lane.hpp"
#include "relay/ledger.hpp"
#include "relay/link.hpp"

#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace walrelay::relay {

struct relay_options {
    std::string slot;
    std::string stream;
    lane_options lane;
    backoff_limits backoff;
    /// How long a stop waits for acks that are still out.
    std::chrono::milliseconds drain_timeout{10000};
};

/// A replication connection that has begun to stream.
struct postgres_session {
    history origin;
    table_catalog catalog;
    output_plugin plugin = output_plugin::pgoutput;
    std::chrono::milliseconds sender_timeout{0};
};

class relay_machine {
public:
    relay_machine(relay_options options, std::vector<outbox::table_mapper> mappers,
                  std::uint64_t seed);

    void start();
    void broker_connected(std::uint64_t epoch, const broker_facts& facts, instant now);
    /// The try failed, or the connection ended.
    void broker_failed(std::uint64_t epoch, const error& why, instant now);
    void postgres_connected(std::uint64_t epoch, postgres_session session, instant now);
    void postgres_failed(std::uint64_t epoch, const error& why, instant now);
    void postgres_finished();
    void frame_arrived(std::string_view frame, instant now);
    void reply_arrived(publish_token token, const publish_outcome& outcome, instant now);
    void time_passed(instant now);
    void stop_requested(instant now);

    /// Whether the driver may hand over another frame. While it may not, the socket is not read.
    [[nodiscard]] bool wants_frames() const;
    /// When `time_passed` is wanted.
    [[nodiscard]] std::optional<monotonic_time> deadline() const;
    [[nodiscard]] std::optional<action> next_action(monotonic_time now);

    [[nodiscard]] const lane& the_lane() const { return lane_; }
    [[nodiscard]] const ledger& the_ledger() const { return ledger_; }

private:
    enum class phase { running, draining, closing, ended };

    [[nodiscard]] bool is_closing() const {
        return phase_ == phase::closing || phase_ == phase::ended;
    }
    void log(log_severity severity, std::string text);
    void lose_broker(const error& why, instant now);
    void lose_postgres(const error& why, instant now);
    void frame_failed(const error& why, instant now);
    void reply_failed(lane_verdict verdict, const publish_outcome& outcome, instant now);
    void account_for_stored(instant now);
    void retry_links(instant now);
    void drain(int exit_code, instant now);
    void close_postgres_in_order(instant now);
    void halt(const error& why, instant now);
    void end();
    [[nodiscard]] std::string tail_report(const stream_facts& facts) const;
    void look_for_rewind(const stream_facts& facts);

    relay_options options_;
    intake intake_;
    lane lane_;
    ledger ledger_;
    feedback feedback_;
    link broker_;
    link postgres_;
    phase phase_ = phase::running;
    int exit_code_ = 0;
    std::optional<monotonic_time> drain_until_;
    history history_;
    /// The highest sequence that the stream is known to have had.
    std::uint64_t highest_sequence_ = 0;
    std::deque<action> actions_;
};

}  // namespace walrelay::relay
