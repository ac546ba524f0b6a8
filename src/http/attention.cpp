#include "http/attention.hpp"

#include "core/figures.hpp"
#include "core/progress.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <utility>

namespace walrelay::http {
namespace {

using namespace std::chrono_literals;

// As in monitoring/alerts.yaml.
constexpr auto danger_is_near = 1h;
constexpr std::uint64_t much_wal_bytes = 10'000'000'000;
constexpr auto clocks_may_differ_by = 5s;
constexpr auto given_up_is_news_for = 15min;
constexpr auto replay_may_stand_still_for = 10min;
// Sooner than there: whoever looks need not wait as long as those who are woken.
constexpr auto acks_take_at_most = 5s;
constexpr auto cleanup_may_be_late_by = 1h;

/// To the second: a text that changes all the time cannot be read, or copied from.
template <class Duration>
std::string in_words(Duration time) {
    return show_seconds(std::floor(std::chrono::duration<double>(time).count()));
}

class attention_list {
public:
    explicit attention_list(const relay_report& of) : of_(of) {}

    void look_at_letters();
    void look_at_slot();
    void look_at_broker();
    void look_at_cleanup();
    void look_at_clock();
    void look_at_kept();

    [[nodiscard]] std::vector<attention> take() { return std::move(found_); }

private:
    void add(std::string_view alert, std::string what, std::string_view command) {
        found_.push_back({alert, std::move(what), command});
    }
    void look_at_danger(const slot_usage& slot);
    void look_at_retention(const slot_usage& slot);

    const relay_report& of_;
    std::vector<attention> found_;
};

void attention_list::look_at_letters() {
    const auto counted_by = [&](letter_reason reason) {
        return of_.letters.facts ? of_.letters.facts->counted.at(static_cast<std::size_t>(reason))
                                 : 0;
    };
    const auto by_row = counted_by(letter_reason::row);
    const auto by_broker = counted_by(letter_reason::broker);
    if (by_row + by_broker > 0) {
        add("WalrelayDeadLetters",
            "open dead letters: " + with_thousands(by_row) +
                " of rows that no message can be made of, " + with_thousands(by_broker) +
                " that the broker refuses; they are not in the stream until they are sent again",
            "walrelay dead-letter list --open");
    }
}

void attention_list::look_at_danger(const slot_usage& slot) {
    constexpr std::string_view alert = "WalrelaySlotEndangered";
    const std::string rows = "rows that are not in the stream are then in their tables alone";
    const std::string fix = "; raise max_slot_wal_keep_size, and let the relay catch up";
    if (slot.wal_status == "lost") {
        add(alert,
            "PostgreSQL has removed WAL that the slot needs (wal_status is lost): rows that are "
            "not in the stream are in their tables alone; delete none of them",
            "walrelay verify");
    } else if (slot.wal_status == "unreserved") {
        add(alert,
            "the slot is in danger: wal_status is unreserved, and PostgreSQL may remove its WAL at "
            "any moment; " +
                rows + fix,
            "walrelay check");
    } else if (of_.slot_danger_in && *of_.slot_danger_in < danger_is_near) {
        add(alert,
            "the slot is in danger: PostgreSQL may remove its WAL in " +
                in_words(*of_.slot_danger_in) + " if it goes on as in the last minutes; " + rows +
                fix,
            "walrelay check");
    }
}

void attention_list::look_at_retention(const slot_usage& slot) {
    const auto left = slot.safe_wal_bytes;
    const bool is_most =
        left && static_cast<double>(slot.retained_bytes) > static_cast<double>(*left);
    if (is_most || slot.retained_bytes > much_wal_bytes) {
        const auto holds = "PostgreSQL keeps " +
                           show_bytes(static_cast<double>(slot.retained_bytes)) +
                           " of WAL for the slot";
        add("WalrelaySlotRetention",
            is_most ? holds + ", more than half of max_slot_wal_keep_size: " +
                          show_bytes(static_cast<double>(std::max<std::int64_t>(*left, 0))) +
                          " are left until it can be lost"
                    : holds + ": its disk must have room for it until the relay has caught up",
            "walrelay check");
    }
}

void attention_list::look_at_slot() {
    if (const auto& slot = of_.slot_facts.facts) {
        look_at_danger(*slot);
        look_at_retention(*slot);
    }
}

void attention_list::look_at_broker() {
    const auto state = of_.status.state;
    const bool says_why =
        state == relay_state::waiting_broker || state == relay_state::waiting_postgres;
    if (of_.status.oldest_unacked > acks_take_at_most && !says_why) {
        add("WalrelayBrokerStuck",
            "the broker has not answered a publish for " + in_words(of_.status.oldest_unacked) +
                "; the relay keeps the messages, and sends them again if it must",
            "walrelay check");
    }
}

void attention_list::look_at_cleanup() {
    for (std::size_t index = 0; index < of_.cleanup.size(); ++index) {
        const auto lag = of_.cleanup[index].lag(of_.now);
        if (lag && *lag > cleanup_may_be_late_by) {
            add("WalrelayCleanupBehind",
                "rows of " + of_.tables.at(index) + " should have been deleted " + in_words(*lag) +
                    " ago; no message is delayed by it, and the log says what the clean-up waits "
                    "for",
                "walrelay check");
        }
    }
}

void attention_list::look_at_clock() {
    if (of_.clock_offset && std::chrono::abs(*of_.clock_offset) > clocks_may_differ_by) {
        const bool is_ahead = of_.clock_offset->count() > 0;
        add("WalrelayClockOff",
            "PostgreSQL's clock is " + in_words(std::chrono::abs(*of_.clock_offset)) +
                (is_ahead ? " ahead of" : " behind") +
                " this machine's; lag and latency are corrected by it; set the clock of the one "
                "that is wrong",
            "timedatectl");
    }
}

void attention_list::look_at_kept() {
    if (const auto& loss = of_.last_given_up; loss && of_.now - loss->at < given_up_is_news_for) {
        add("WalrelayTrailCut",
            std::string(loss->what == kept_kind::trail ? "the trail" : "a bookmark") +
                " was given up before its time " + in_words(of_.now - loss->at) + " ago (" +
                to_string(loss->why) +
                "): no row is lost, but a replay cannot begin before what is left",
            "walrelay bookmark list");
    }
    if (of_.replays_still_for && *of_.replays_still_for >= replay_may_stand_still_for) {
        add("WalrelayReplayStalled",
            "a replay is not finished and has written no row for " +
                in_words(*of_.replays_still_for) +
                ": its command has ended, or waits for the relay; walrelay replay resume NUMBER "
                "goes on where it stopped",
            "walrelay replay list");
    }
}

}  // namespace

std::vector<attention> attention_for(const relay_report& of) {
    attention_list list(of);
    list.look_at_letters();
    list.look_at_slot();
    list.look_at_broker();
    list.look_at_cleanup();
    list.look_at_clock();
    list.look_at_kept();
    return list.take();
}

}  // namespace walrelay::http
