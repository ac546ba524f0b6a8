#include "app/status_board.hpp"

#include "app/clock.hpp"
#include "app/process_facts.hpp"
#include "log/log_memory.hpp"

#include <utility>

namespace walrelay::app {
namespace {

/// Of the state, and of the connections.
std::uint64_t number_of(const relay_status& status) {
    std::uint64_t number = static_cast<std::uint64_t>(status.state);
    for (const bool flag : {status.is_leader, status.postgres_connected, status.broker_connected}) {
        number = number * 2 + (flag ? 1 : 0);
    }
    return number;
}

}  // namespace

status_board::status_board(const config::settings& settings, std::string version, instant started)
    : settings_(settings),
      version_(std::move(version)),
      started_(started),
      cleanup_(settings.outbox.size()),
      since_(started) {
    counts_.tables.resize(settings.outbox.size());
}

void status_board::detach() {
    counts_ = counts();
    relay_.reset();
}

void status_board::has_halted(const error& why) {
    halted_.emplace();
    halted_->state = relay_state::halted;
    halted_->reason = why.what;
    halted_->fix = why.remedy;
}

void status_board::halted_postgres_answers(bool does) {
    if (halted_) {
        halted_->postgres_connected = does;
    }
}

void status_board::halted_broker_answers(bool does) {
    if (halted_) {
        halted_->broker_connected = does;
    }
}

void status_board::streams_with(std::string database, output_plugin plugin) {
    database_ = std::move(database);
    plugin_ = to_string(plugin);
}

relay_status status_board::status(instant now) const {
    if (relay_) {
        return relay_->status(now);
    }
    return halted_.value_or(relay_status{});
}

void status_board::note_state(relay_state state, instant now) {
    if (std::exchange(state_, state) != state) {
        since_ = now;
    }
}

void status_board::sample(instant now, std::chrono::microseconds late) {
    loop_lag_.add(late);
    const auto status = this->status(now);
    note_state(status.state, now);
    recent_.add(now, counts(), status, servers_.slot(now, status.postgres_connected));
}

http::relay_report status_board::report(instant now) {
    http::relay_report report;
    report.now = now.wall;
    report.started = wall_time_of(started_, now);
    report.version = version_;
    report.slot = settings_.postgres.slot;
    report.database = database_;
    report.stream = settings_.nats.stream;
    report.plugin = plugin_;
    for (const auto& each : settings_.outbox) {
        report.tables.push_back(to_string(each.table));
    }
    report.status = status(now);
    note_state(report.status.state, now);
    report.since = wall_time_of(since_, now);
    report.counts = counts();
    report.cleanup = cleanup_;
    report.recent = recent_.rates(now, report.counts);
    report.last_second = recent_.last();
    // A halted relay looks for no findings.
    servers_.show_in(report, now, relay_.has_value());
    kept_.show_in(report, now, report.status.postgres_connected);
    report.kept_max_wal = settings_.replay.max_wal;
    report.keeps_trail = settings_.replay.keep.has_value();
    report.loop_lag = loop_lag_;
    report.traces = traces_ ? std::optional(traces_()) : std::nullopt;
    report.process = read_process_facts();
    report.log = remembered_log().lines();
    report.last_trouble = remembered_log().last_trouble();
    return report;
}

http::report_source status_board::source() {
    return {[this] { return report(now()); }, [this] { return history(); },
            [this] { return number_of(status(now())); }};
}

}  // namespace walrelay::app
