#include "http/status_json.hpp"

#include "core/position.hpp"
#include "http/attention.hpp"

#include <chrono>
#include <cstdint>
#include <numeric>
#include <string_view>

namespace walrelay::http {
namespace {

constexpr int schema = 1;

template <class Duration>
double in_seconds(Duration time) {
    return std::chrono::duration<double>(time).count();
}

template <class Duration>
std::optional<double> in_seconds(const std::optional<Duration>& time) {
    return time ? std::optional(in_seconds(*time)) : std::nullopt;
}

template <class Counts>
std::uint64_t sum_of(const Counts& counts) {
    return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
}

/// Since 1970; null before it has happened.
void write_time(json_writer& to, std::string_view name, wall_time at) {
    if (at == wall_time{}) {
        to.null(name);
    } else {
        to.number(name, in_seconds(at.time_since_epoch()));
    }
}

void write_slot(json_writer& to, const relay_report& of) {
    to.open_object("slot").text("name", of.slot).text("database", of.database);
    to.text("plugin", of.plugin);
    if (of.status.confirmed) {
        to.text("confirmed", to_string(*of.status.confirmed));
    } else {
        to.null("confirmed");
    }
    to.number("age_seconds", in_seconds(of.slot_facts.age));
    write_facts(to, of.slot_facts.facts);
    to.number("danger_in_seconds", in_seconds(of.slot_danger_in)).close_object();
}

void write_stream(json_writer& to, const relay_report& of) {
    to.open_object("stream").text("name", of.stream);
    to.number("age_seconds", in_seconds(of.stream_facts.age));
    write_facts(to, of.stream_facts.facts);
    to.close_object();
}

void write_letters(json_writer& to, const relay_report& of) {
    to.open_object("dead_letters");
    to.number("age_seconds", in_seconds(of.letters.age));
    write_facts(to, of.letters.facts);
    to.close_object();
}

void write_findings(json_writer& to, const relay_report& of) {
    to.open_object("findings").number("age_seconds", in_seconds(of.findings.age));
    write_facts(to, of.findings.facts);
    to.close_object();
}

void write_kept(json_writer& to, const relay_report& of) {
    to.open_object("kept_positions").number("age_seconds", in_seconds(of.kept.age));
    to.number("max_wal_bytes", of.kept_max_wal.bytes).flag("keeps_trail", of.keeps_trail);
    to.number("bookmarks_dropped", sum_of(of.kept_counts.bookmarks));
    to.number("trail_cut", sum_of(of.kept_counts.trails) + sum_of(of.kept_counts.moved_on));
    write_facts(to, of.kept.facts);
    to.close_object();
}

void write_attention(json_writer& to, const relay_report& of) {
    to.open_array("attention");
    for (const auto& each : attention_for(of)) {
        to.open_object().text("alert", each.alert).text("what", each.what);
        to.text("command", each.command).close_object();
    }
    to.close_array();
}

void write_window(json_writer& to, const relay_status& status) {
    to.open_object("window").number("messages", status.window_messages);
    to.number("bytes", status.window_bytes);
    to.number("limit_messages", status.window_limit_messages);
    to.number("limit_bytes", status.window_limit_bytes);
    to.flag("reading_paused", status.reading_paused).close_object();
    to.number("write_back_pending_rows", status.write_back_pending);
    to.number("lag_seconds", in_seconds(status.lag));
    to.number("oldest_unacked_seconds", in_seconds(status.oldest_unacked));
}

void write_recent(json_writer& to, const relay_report& of) {
    to.open_object("last_minute").number("rows_per_second", of.recent.rows_per_second);
    to.number("messages_per_second", of.recent.messages_per_second);
    to.number("p50_seconds", in_seconds(of.recent.p50));
    to.number("p99_seconds", in_seconds(of.recent.p99));
    if (const auto& slow = of.status.slowest) {
        to.open_object("slowest").number("seconds", in_seconds(slow->took));
        to.text("id", slow->id).text("subject", slow->subject);
        to.text("position", to_string(slow->where)).text("traceparent", slow->trace);
        write_time(to, "stored", slow->stored_at);
        to.close_object();
    } else {
        to.null("slowest");
    }
    to.close_object();
}

/// What is not known is null.
void write_last_second(json_writer& to, const relay_report& of) {
    const auto known = [](float seconds) {
        return seconds < 0 ? std::nullopt : std::optional<double>(seconds);
    };
    const auto last = of.last_second.value_or(sample{});
    to.open_object("last_second").number("p50_seconds", known(last.p50_seconds));
    to.number("p99_seconds", known(last.p99_seconds)).close_object();
}

void write_totals(json_writer& to, const relay_counts& counts) {
    to.open_object("totals").number("transactions_received", counts.transactions_received);
    to.number("wal_received_bytes", counts.wal_received_bytes);
    to.number("messages_stored", counts.messages_stored);
    to.open_object("messages_stored_by_source");
    for (std::size_t each = 0; each < message_cause_count; ++each) {
        to.number(to_string(static_cast<message_cause>(each)), counts.stored_by_cause[each]);
    }
    to.close_object();
    to.number("skipped_already_stored", counts.skipped_already_stored);
    to.number("skipped_duplicate_id", counts.skipped_duplicate_id);
    to.number("publish_failures", sum_of(counts.publish_failures));
    to.number("postgres_reconnects", sum_of(counts.postgres_losses));
    to.number("broker_reconnects", sum_of(counts.broker_losses)).close_object();
    write_time(to, "last_commit", counts.last_commit);
    write_time(to, "last_stored", counts.last_stored);
    write_time(to, "last_server_message", counts.last_frame);
    to.open_object("startup_check");
    write_time(to, "time", counts.startup_checked);
    to.number("missing_rows", counts.startup_check_missing).close_object();
}

void write_tables(json_writer& to, const relay_report& of) {
    to.open_array("tables");
    for (std::size_t index = 0; index < of.tables.size(); ++index) {
        const auto& counts = of.counts.tables[index];
        to.open_object().text("name", of.tables[index]).number("rows", counts.rows_received);
        to.number("written_back", counts.rows_written_back);
        to.number("dead_letters", sum_of(counts.dead_letters));
        const auto& cleanup = of.cleanup[index];
        to.number("deleted", cleanup.rows_deleted);
        to.number("cleanup_lag_seconds", in_seconds(cleanup.lag(of.now)));
        to.number("cleanup_failures", sum_of(cleanup.failures)).close_object();
    }
    to.close_array();
}

void write_line(json_writer& to, std::string_view name, const log_line& line) {
    to.open_object(name);
    write_time(to, "time", line.at);
    to.text("level", line.level).text("event", line.event).text("text", line.text).close_object();
}

void write_log(json_writer& to, const relay_report& of) {
    if (of.last_trouble) {
        write_line(to, "last_trouble", *of.last_trouble);
    } else {
        to.null("last_trouble");
    }
    to.open_array("log");
    for (const auto& line : of.log) {
        write_line(to, {}, line);
    }
    to.close_array();
}

void write_holder(json_writer& to, const relay_report& of) {
    to.open_object("holder").number("age_seconds", in_seconds(of.holder.age));
    if (const auto& holder = of.holder.facts) {
        to.open_object("facts").number("process", holder->process);
        to.text("address", holder->address).text("application", holder->application);
        to.number("connected_for_seconds", in_seconds(holder->connected_for));
        to.number("heard_ago_seconds", in_seconds(holder->heard_ago)).close_object();
    } else {
        to.null("facts");
    }
    to.close_object();
}

}  // namespace

void write_facts(json_writer& to, const std::optional<slot_usage>& slot) {
    if (!slot) {
        to.null("facts");
        return;
    }
    to.open_object("facts").number("lag_bytes", slot->lag_bytes);
    to.number("retained_bytes", slot->retained_bytes);
    if (slot->safe_wal_bytes) {
        to.number("safe_wal_bytes", *slot->safe_wal_bytes);
    } else {
        to.null("safe_wal_bytes");
    }
    to.text("wal_status", slot->wal_status);
    to.number("catalog_xmin_age_transactions", slot->catalog_xmin_age).close_object();
}

void write_facts(json_writer& to, const std::optional<open_letters>& letters) {
    if (!letters) {
        to.null("facts");
        return;
    }
    to.open_object("facts");
    for (std::size_t each = 0; each < letter_reason_count; ++each) {
        to.number(to_string(static_cast<letter_reason>(each)), letters->counted[each]);
    }
    to.open_array("newest");
    for (const auto& each : letters->newest) {
        to.open_object().number("id", each.number);
        write_time(to, "dead_at", each.dead_at);
        to.text("table", each.table).text("message_id", each.message_id);
        to.text("reason", each.reason).close_object();
    }
    to.close_array().close_object();
}

void write_facts(json_writer& to, const std::optional<std::vector<finding>>& findings) {
    if (!findings) {
        to.null("facts");
        return;
    }
    to.open_array("facts");
    for (const auto& each : *findings) {
        to.open_object().text("code", each.code.text()).text("severity", to_string(each.severity));
        to.text("what", each.what).text("fix", each.remedy).close_object();
    }
    to.close_array();
}

void write_facts(json_writer& to, const std::optional<stream_usage>& stream) {
    if (!stream) {
        to.null("facts");
        return;
    }
    to.open_object("facts").number("messages", stream->messages).number("bytes", stream->bytes);
    to.number("last_sequence", stream->last_sequence).close_object();
}

std::string status_json(const relay_report& of) {
    json_writer to;
    const auto& status = of.status;
    to.open_object().number("schema", schema).text("version", of.version);
    write_time(to, "now", of.now);
    write_time(to, "started", of.started);
    to.text("state", to_string(status.state));
    write_time(to, "since", of.since);
    to.flag("ready", is_ready(status.state)).flag("leader", status.is_leader);
    to.text("reason", status.reason).text("fix", status.fix);
    write_attention(to, of);
    to.flag("postgres_connected", status.postgres_connected);
    to.flag("broker_connected", status.broker_connected);
    to.number("clock_offset_seconds", in_seconds(of.clock_offset));
    write_slot(to, of);
    write_holder(to, of);
    write_stream(to, of);
    write_letters(to, of);
    write_findings(to, of);
    write_kept(to, of);
    write_window(to, status);
    write_recent(to, of);
    write_last_second(to, of);
    write_totals(to, of.counts);
    write_tables(to, of);
    to.number("cpu_seconds", of.process.cpu_seconds);
    to.number("resident_bytes", of.process.resident_bytes);
    write_log(to, of);
    return to.close_object().take() + "\n";
}

std::string history_json(std::span<const sample> samples) {
    const auto known = [](float value) {
        return value < 0 ? std::nullopt : std::optional<double>(value);
    };
    json_writer to;
    to.open_object().number("schema", schema).open_array("columns");
    for (const char* const each :
         {"time", "rows_per_second", "messages_per_second", "lag_seconds", "p50_seconds",
          "p99_seconds", "window_share", "slot_lag_bytes", "retained_bytes"}) {
        to.text("", each);
    }
    to.close_array().open_array("samples");
    for (const auto& each : samples) {
        to.open_array().number("", in_seconds(each.at.time_since_epoch()));
        for (const auto value :
             {each.rows_per_second, each.messages_per_second, each.lag_seconds, each.p50_seconds,
              each.p99_seconds, each.window_share, each.slot_lag_bytes, each.retained_bytes}) {
            to.number("", known(value));
        }
        to.close_array();
    }
    return to.close_array().close_object().take() + "\n";
}

}  // namespace walrelay::http
