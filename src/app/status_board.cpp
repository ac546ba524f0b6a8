#include "app/status_board.hpp"

#include "app/clock.hpp"
#include "app/process_facts.hpp"
#include "log/log_memory.hpp"

#include <algorithm>
#include <utility>

namespace walrelay::app {
namespace {

/// An answer that is older says nothing of now, where the next one comes within that time.
constexpr std::chrono::seconds facts_hold{60};
/// What is looked at every minute takes its time as well.
constexpr std::chrono::seconds findings_hold{180};
constexpr std::size_t marks_of_a_minute = 61;
constexpr std::size_t samples_of_15_minutes = 900;

template <class Duration>
double seconds(Duration time) {
    return std::chrono::duration<double>(time).count();
}

float seconds_or_unknown(const std::optional<std::chrono::microseconds>& time) {
    return time ? static_cast<float>(seconds(*time)) : -1;
}

float share_of(std::size_t part, std::size_t whole) {
    return whole > 0 ? static_cast<float>(static_cast<double>(part) / static_cast<double>(whole))
                     : 0;
}

std::uint64_t rows_in(const relay_counts& counts) {
    std::uint64_t rows = 0;
    for (const auto& table : counts.tables) {
        rows += table.rows_received;
    }
    return rows;
}

/// Of the state, and of the connections.
std::uint64_t number_of(const relay_status& status) {
    std::uint64_t number = static_cast<std::uint64_t>(status.state);
    for (const bool flag : {status.is_leader, status.postgres_connected, status.broker_connected}) {
        number = number * 2 + (flag ? 1 : 0);
    }
    return number;
}

/// By the wall clock of now: it may have been corrected since.
wall_time wall_time_of(const instant& then, const instant& now) {
    return now.wall -
           std::chrono::duration_cast<std::chrono::microseconds>(now.monotonic - then.monotonic);
}

}  // namespace

template <class Facts>
void status_board::asked<Facts>::answer(std::optional<Facts> found, instant now,
                                        std::chrono::steady_clock::duration for_so_long) {
    facts = std::move(found);
    holds = for_so_long;
    if (facts) {
        at = now.monotonic;
    }
}

template <class Facts>
http::polled<Facts> status_board::asked<Facts>::shown(instant now, bool is_there) const {
    if (!at) {
        return {};
    }
    const auto age = std::chrono::duration_cast<std::chrono::milliseconds>(now.monotonic - *at);
    return {is_there && age < holds ? facts : std::nullopt, age};
}

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

void status_board::slot_was_read(std::optional<slot_usage> usage, instant now) {
    if (usage) {
        clock_offset_ = usage->server_time - now.wall;
    }
    forecast_.add(now.monotonic, usage ? usage->safe_wal_bytes : std::nullopt);
    slot_.answer(std::move(usage), now, facts_hold);
}

void status_board::stream_was_read(std::optional<stream_usage> usage, instant now) {
    stream_.answer(usage, now, facts_hold);
}

void status_board::holder_was_read(std::optional<slot_holder> holder, instant now) {
    holder_.answer(std::move(holder), now, facts_hold);
}

void status_board::letters_were_read(std::optional<open_letters> found, instant now,
                                     std::chrono::steady_clock::duration rest) {
    letters_.answer(std::move(found), now, rest + facts_hold);
}

void status_board::findings_were_read(std::optional<std::vector<finding>> found, instant now) {
    findings_.answer(std::move(found), now, findings_hold);
}

void status_board::kept_positions_were_read(std::optional<kept_positions> found, instant now) {
    if (found && found->replays.empty()) {
        replays_.reset();
    } else if (found) {
        const auto remaining = remaining_rows_of(*found);
        if (!replays_ || replays_->remaining_rows != remaining) {
            replays_ = {remaining, now.monotonic};
        }
    }
    kept_.answer(std::move(found), now, findings_hold);
}

void status_board::note_given_up(kept_kind what, giving_way why, instant now) {
    if (is_before_its_time(why)) {
        last_given_up_ = {now, what, why};
    }
}

void status_board::kept_position_was_dropped(kept_kind what, giving_way why, instant now) {
    note_given_up(what, why, now);
    auto& counts = what == kept_kind::trail ? kept_counts_.trails : kept_counts_.bookmarks;
    ++counts.at(static_cast<std::size_t>(why));
}

void status_board::trail_was_moved_on(giving_way why, instant now) {
    note_given_up(kept_kind::trail, why, now);
    ++kept_counts_.moved_on.at(static_cast<std::size_t>(why));
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
    const auto here = mark_of(now);
    http::sample one{now.wall};
    one.lag_seconds = seconds_or_unknown(status.lag);
    one.window_share = share_of(status.window_messages, status.window_limit_messages);
    if (!marks_.empty()) {
        const auto& before = marks_.back();
        const auto passed = seconds(here.at - before.at);
        const auto per_second = [&](std::uint64_t more) {
            return passed > 0 ? static_cast<float>(static_cast<double>(more) / passed) : 0;
        };
        one.rows_per_second = per_second(here.rows - before.rows);
        one.messages_per_second = per_second(here.messages - before.messages);
        one.p50_seconds = seconds_or_unknown(quantile(before.latencies, here.latencies, 0.5));
        one.p99_seconds = seconds_or_unknown(quantile(before.latencies, here.latencies, 0.99));
    }
    if (const auto slot = slot_.shown(now, status.postgres_connected).facts) {
        one.slot_lag_bytes = static_cast<float>(slot->lag_bytes);
        one.retained_bytes = static_cast<float>(slot->retained_bytes);
    }
    marks_.push_back(here);
    if (marks_.size() > marks_of_a_minute) {
        marks_.pop_front();
    }
    history_.push_back(one);
    if (history_.size() > samples_of_15_minutes) {
        history_.pop_front();
    }
}

status_board::mark status_board::mark_of(instant now) const {
    const auto counts = this->counts();
    return {now.monotonic, rows_in(counts), counts.messages_stored, counts.commit_to_ack.counts()};
}

/// Up to now, so that who asks right after a row finds it.
http::recent_rates status_board::recent_rates(instant now) const {
    http::recent_rates rates;
    if (marks_.empty()) {
        return rates;
    }
    const auto& from = marks_.front();
    const auto to = mark_of(now);
    const auto passed = std::max(seconds(to.at - from.at), 0.001);
    rates.rows_per_second = static_cast<double>(to.rows - from.rows) / passed;
    rates.messages_per_second = static_cast<double>(to.messages - from.messages) / passed;
    rates.p50 = quantile(from.latencies, to.latencies, 0.5);
    rates.p99 = quantile(from.latencies, to.latencies, 0.99);
    return rates;
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
    report.recent = recent_rates(now);
    report.last_second = history_.empty() ? std::nullopt : std::optional(history_.back());
    report.slot_facts = slot_.shown(now, report.status.postgres_connected);
    report.slot_danger_in = report.slot_facts.facts ? forecast_.left() : std::nullopt;
    report.holder = holder_.shown(now, report.status.state == relay_state::standby);
    report.stream_facts = stream_.shown(now, report.status.broker_connected);
    report.letters = letters_.shown(now, report.status.postgres_connected);
    // A halted relay looks for none.
    report.findings = findings_.shown(
        now, report.status.state != relay_state::halted && report.status.postgres_connected);
    report.kept = kept_.shown(now, report.status.postgres_connected);
    report.kept_counts = kept_counts_;
    if (last_given_up_) {
        report.last_given_up = {wall_time_of(last_given_up_->at, now), last_given_up_->what,
                                last_given_up_->why};
    }
    if (replays_ && report.kept.facts) {
        report.replays_still_for =
            std::chrono::duration_cast<std::chrono::microseconds>(now.monotonic - replays_->since);
    }
    report.kept_max_wal = settings_.replay.max_wal;
    report.keeps_trail = settings_.replay.keep.has_value();
    report.clock_offset = report.slot_facts.facts ? clock_offset_ : std::nullopt;
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
