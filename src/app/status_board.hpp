// What a process knows of its relay, for those who watch it: the state at this moment, counts over
// all lives of the relay, what the servers were asked in the background, and the last 15 minutes.
//
// On the relay's thread. Asks no server.
#pragma once

#include "app/kept_watch.hpp"
#include "app/recent_samples.hpp"
#include "app/server_watch.hpp"
#include "config/settings.hpp"
#include "core/cleanup_counts.hpp"
#include "core/error.hpp"
#include "core/facts.hpp"
#include "core/instant.hpp"
#include "core/trace_counts.hpp"
#include "http/report.hpp"
#include "http/routes.hpp"

#include <chrono>
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
    /// What is asked in the background goes there.
    [[nodiscard]] server_watch& servers() { return servers_; }
    [[nodiscard]] kept_watch& kept() { return kept_; }

    /// `late` is how much later this is called than was asked for.
    void sample(instant now, std::chrono::microseconds late);

    [[nodiscard]] relay_status status(instant now);
    [[nodiscard]] http::relay_report report(instant now);
    [[nodiscard]] std::vector<http::sample> history() const { return recent_.all(); }
    [[nodiscard]] http::report_source source();

private:
    struct halt {
        relay_status shown = {};
        /// What was confirmed when a row halted the relay that another one will send again.
        std::optional<lsn> before_row = {};
    };
    [[nodiscard]] static bool is_past(const halt& last, const relay_status& now);

    void note_state(relay_state state, instant now);

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
    server_watch servers_;
    kept_watch kept_;
    recent_samples recent_;
    std::function<trace_counts()> traces_;
    latency_histogram loop_lag_;
};

}  // namespace walrelay::app
