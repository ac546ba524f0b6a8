// What a process knows of its relay, for those who watch it: the state at this moment, counts over
// all lives of the relay, what the servers were asked in the background, and the last 15 minutes.
//
// On the relay's thread. Asks no server.
#pragma once

#include "config/settings.hpp"
#include "core/cleanup_counts.hpp"
#include "core/error.hpp"
#include "core/facts.hpp"
#include "core/finding.hpp"
#include "core/instant.hpp"
#include "core/kept_position.hpp"
#include "core/trace_counts.hpp"
#include "core/usage.hpp"
#include "core/wal_forecast.hpp"
#include "http/report.hpp"
#include "http/routes.hpp"

#include <chrono>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace walrelay::app {

class status_board {
public:
    /// How often `sample` is to be called.
    static constexpr std::chrono::seconds sample_every{1};

    /// The settings must outlive it.
    status_board(const config::settings& settings, std::string version, instant started);

    struct watched_relay {
        std::function<relay_status(instant)> status;
        std::function<relay_counts()> counts;
    };
    /// A relay lives now.
    void attach(watched_relay relay) { relay_ = std::move(relay); }
    /// It has ended. Its counts stay.
    void detach(instant now);
    /// The process stays, and an operator must decide. A relay that lives after it only looks
    /// again, and the halt is shown until that relay is past it.
    void has_halted(const error& why);
    /// While it stays: whether the last look at a server had an answer.
    void halted_postgres_answers(bool does);
    void halted_broker_answers(bool does);
    /// Of all lives of the relay until now.
    [[nodiscard]] relay_counts counts() const { return relay_ ? relay_->counts() : counts_; }

    /// What has become of spans; not called where there are none.
    void traces_from(std::function<trace_counts()> counts) { traces_ = std::move(counts); }

    /// By the tables of the settings, over all lives of the relay.
    [[nodiscard]] std::vector<cleanup_counts>& cleanup() { return cleanup_; }

    void streams_with(std::string database, output_plugin plugin);
    /// What was asked in the background; nothing where the server had no answer.
    void slot_was_read(std::optional<slot_usage> usage, instant now);
    void stream_was_read(std::optional<stream_usage> usage, instant now);
    void holder_was_read(std::optional<slot_holder> holder, instant now);
    /// `rest` is the pause before they are counted again.
    void letters_were_read(std::optional<open_letters> found, instant now,
                           std::chrono::steady_clock::duration rest);
    void findings_were_read(std::optional<std::vector<finding>> found, instant now);
    void kept_positions_were_read(std::optional<kept_positions> found, instant now);
    /// Counted over all lives of the relay.
    void kept_position_was_dropped(kept_kind what, giving_way why, instant now);
    void trail_was_moved_on(giving_way why, instant now);

    /// `late` is how much later this is called than was asked for.
    void sample(instant now, std::chrono::microseconds late);

    [[nodiscard]] relay_status status(instant now);
    [[nodiscard]] http::relay_report report(instant now);
    [[nodiscard]] std::vector<http::sample> history() const {
        return {history_.begin(), history_.end()};
    }
    [[nodiscard]] http::report_source source();

private:
    template <class Facts>
    struct asked {
        std::optional<Facts> facts;
        std::optional<monotonic_time> at;
        /// Until the next answer is overdue.
        std::chrono::steady_clock::duration holds{};

        void answer(std::optional<Facts> found, instant now,
                    std::chrono::steady_clock::duration for_so_long);
        [[nodiscard]] http::polled<Facts> shown(instant now, bool is_there) const;
    };
    /// What is counted, at one moment.
    struct mark {
        monotonic_time at;
        std::uint64_t rows = 0;
        std::uint64_t messages = 0;
        latency_histogram::ranges latencies{};
    };

    struct given_up {
        instant at;
        kept_kind what;
        giving_way why;
    };
    /// Of all that are unfinished, and since when it has been the same.
    struct replay_progress {
        std::uint64_t remaining_rows;
        monotonic_time since;
    };

    struct halt {
        relay_status shown = {};
        /// What was confirmed when a row halted the relay that another one will send again.
        std::optional<lsn> before_row = {};
    };
    [[nodiscard]] static bool is_past(const halt& last, const relay_status& now);

    void note_given_up(kept_kind what, giving_way why, instant now);
    void note_state(relay_state state, instant now);
    [[nodiscard]] mark mark_of(instant now) const;
    [[nodiscard]] http::recent_rates recent_rates(instant now) const;

    const config::settings& settings_;
    std::string version_;
    instant started_;
    std::optional<watched_relay> relay_;
    relay_counts counts_;
    std::vector<cleanup_counts> cleanup_;
    std::optional<halt> halted_;
    /// By the relay that ended last.
    std::optional<lsn> confirmed_;
    relay_state state_ = relay_state::starting;
    instant since_;
    std::string database_;
    std::string plugin_;
    asked<slot_usage> slot_;
    wal_forecast forecast_;
    asked<slot_holder> holder_;
    asked<stream_usage> stream_;
    asked<open_letters> letters_;
    asked<kept_positions> kept_;
    asked<std::vector<finding>> findings_;
    kept_counts kept_counts_;
    std::optional<given_up> last_given_up_;
    /// Nothing while no replay is unfinished.
    std::optional<replay_progress> replays_;
    std::optional<std::chrono::microseconds> clock_offset_;
    std::function<trace_counts()> traces_;
    latency_histogram loop_lag_;
    std::deque<mark> marks_;
    std::deque<http::sample> history_;
};

}  // namespace walrelay::app
