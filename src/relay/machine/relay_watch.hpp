// What the relay machine says of itself: counts, the last trouble on each side, the slowest
// message. Pure. Each event of the machine that is of interest is one call; nothing here decides
// anything.
#pragma once

#include "core/acked_message.hpp"
#include "core/error.hpp"
#include "core/instant.hpp"
#include "core/relay_counts.hpp"
#include "relay/intake/dead_letters.hpp"
#include "relay/intake/intake.hpp"
#include "relay/lane/lane.hpp"
#include "relay/lane/publish_outcome.hpp"
#include "relay/machine/catch_up.hpp"
#include "relay/machine/first_transaction.hpp"
#include "relay/machine/sent_again.hpp"

#include <cstddef>
#include <optional>

namespace walrelay::relay {

class relay_watch {
public:
    explicit relay_watch(std::size_t tables) { counts_.tables.resize(tables); }

    /// A relay before this one, of the same configuration, has counted these.
    void go_on_from(const relay_counts& earlier) { counts_ = earlier; }
    /// From now on it is told of each ack; it must outlive this.
    void tell_of_acks(ack_observer& observer) { observer_ = &observer; }
    [[nodiscard]] const relay_counts& counts() const { return counts_; }
    /// With as many messages that the lane has seen stored.
    [[nodiscard]] relay_counts counts_with(std::uint64_t stored) const;

    void frame(std::size_t bytes, instant now) {
        counts_.wal_received_bytes += bytes;
        counts_.last_frame = now.wall;
    }
    /// Whether nothing is read from the slot. Said often: the time in between is added up.
    void reading_is_paused(bool paused, instant now);
    /// For longer than a question takes that is answered at once.
    [[nodiscard]] bool reading_stands(instant now) const {
        constexpr std::chrono::seconds long_enough{1};
        return stands_since_ && now.monotonic - *stands_since_ >= long_enough;
    }
    void startup_check_ended(std::size_t missing, instant now) {
        counts_.startup_checked = now.wall;
        counts_.startup_check_missing = missing;
    }
    void transaction() { ++counts_.transactions_received; }
    /// Before the lane hears of it.
    void reply(const lane& lane, publish_token token, const publish_outcome& outcome, instant now);
    void dead_letters_stored(const dead_letters& letters, const intake& tables);
    void written_back(std::size_t table, std::size_t rows) {
        counts_.tables[table].rows_written_back += rows;
    }

    void broker_lost(const error& why);
    void postgres_lost(const error& why);
    /// The broker is well; what is to be made there waits for PostgreSQL, which is lost.
    void broker_waits_for_postgres(const error& why) {
        postgres_lost(why);
        broker_trouble_.reset();
    }
    /// Another consumer holds the slot: PostgreSQL itself is well.
    void stands_by() { postgres_trouble_.reset(); }
    /// Once more, what is no loss of its own.
    void postgres_is_awaited(const error& why) { postgres_trouble_ = why; }

    /// Of which nothing is known but its name. Returns how many there were.
    [[nodiscard]] std::size_t table_vanished() { return ++vanished_; }
    [[nodiscard]] relay::sent_again& sent_again() { return sent_again_; }
    [[nodiscard]] relay::first_transaction& first_transaction() { return first_transaction_; }
    [[nodiscard]] catch_up& catching_up() { return catching_up_; }
    [[nodiscard]] bool has_caught_up() const { return catching_up_.is_over(); }

    /// The last one; nothing before the first.
    [[nodiscard]] const std::optional<error>& broker_trouble() const { return broker_trouble_; }
    [[nodiscard]] const std::optional<error>& postgres_trouble() const { return postgres_trouble_; }
    /// Of the last minute, or of the last half of it.
    [[nodiscard]] std::optional<slow_message> slowest(monotonic_time now) const;

private:
    static constexpr std::chrono::seconds half_a_minute{30};

    void stored(const lane::sent_message& sent, std::uint64_t sequence, instant now);
    void not_stored(outcome_class kind);
    void note_slow(const message& stored, std::chrono::microseconds took, instant now);

    ack_observer* observer_ = nullptr;
    relay_counts counts_;
    catch_up catching_up_;
    relay::sent_again sent_again_;
    relay::first_transaction first_transaction_;
    std::size_t vanished_ = 0;
    std::optional<error> broker_trouble_;
    std::optional<error> postgres_trouble_;
    slow_message slowest_;
    slow_message slowest_before_;
    monotonic_time slowest_since_;
    /// When that was said last, and first.
    std::optional<monotonic_time> paused_since_;
    std::optional<monotonic_time> stands_since_;
};

}  // namespace walrelay::relay
