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

void status_board::detach(instant now) {
    counts_ = counts();
    confirmed_ = relay_ ? relay_->status(now).confirmed : std::nullopt;
    relay_.reset();
}

void status_board::has_halted(const error& why) {
    // One that only looked again has found both servers as they were.
    const auto before = std::exchange(halted_, halt{});
    auto& shown = halted_->shown;
    shown.state = relay_state::halted;
    shown.reason = why.what;
    shown.fix = why.remedy;
    shown.postgres_connected = before && before->shown.postgres_connected;
    shown.broker_connected = before && before->shown.broker_connected;
    if (advice_for(why.code) == advice::this_message) {
        halted_->before_row = confirmed_;
    }
}

void status_board::halted_postgres_answers(bool does) {
    if (halted_) {
        halted_->shown.postgres_connected = does;
    }
}

void status_board::halted_broker_answers(bool does) {
    if (halted_) {
        halted_->shown.broker_connected = does;
    }
}

/// A relay that halts before a row streams until it meets it again.
bool status_board::is_past(const halt& last, const relay_status& now) {
    switch (now.state) {
        case relay_state::starting:
        case relay_state::waiting_postgres:
        case relay_state::waiting_broker:
        case relay_state::halted:
            return false;
        case relay_state::draining:
            return true;
        case relay_state::standby:
        case relay_state::snapshot:
        case relay_state::catching_up:
        case relay_state::streaming:
            break;
    }
    return !last.before_row || now.state == relay_state::standby ||
           now.confirmed.value_or(lsn{}) > *last.before_row;
}

void status_board::streams_with(std::string database, output_plugin plugin) {
    database_ = std::move(database);
    plugin_ = to_string(plugin);
}

relay_status status_board::status(instant now) {
    if (!relay_) {
        return halted_ ? halted_->shown : relay_status{};
    }
    auto live = relay_->status(now);
    if (halted_ && is_past(*halted_, live)) {
        halted_.reset();
    }
    // One that has halted itself says why.
    return halted_ && live.state != relay_state::halted ? halted_->shown : live;
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
    servers_.show_in(report, now, report.status.state != relay_state::halted);
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
