#include "http/metrics.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

namespace walrelay::http {
namespace {

template <class Duration>
double seconds(Duration time) {
    return std::chrono::duration<double>(time).count();
}

double number(bool flag) {
    return flag ? 1 : 0;
}

void write_identity(metric_writer& to, const relay_report& of) {
    to.family("build_info", "info", "The version of walrelay.");
    to.sample(1.0, {{"version", of.version}});
    to.family("info", "info", "What this relay reads and where it publishes.");
    to.sample(1.0, {{"slot", of.slot},
                    {"database", of.database},
                    {"stream", of.stream},
                    {"plugin", of.plugin}});
}

void write_state(metric_writer& to, const relay_report& of) {
    to.family("state", "gauge", "1 for the state of the relay, 0 for all others.");
    for (std::size_t each = 0; each < relay_state_count; ++each) {
        const auto state = static_cast<relay_state>(each);
        to.sample(number(state == of.status.state), {{"state", to_string(state)}});
    }
    to.family("leader", "gauge", "1 while this relay holds the slot.");
    to.sample(number(of.status.is_leader));
    to.family("connected", "gauge",
              "1 while the server is connected; of a halted relay, while it answers.");
    to.sample(number(of.status.postgres_connected), {{"side", "postgres"}});
    to.sample(number(of.status.broker_connected), {{"side", "nats"}});
    to.family("reconnects_total", "counter",
              "Connections that ended and tries that failed, each followed by another try.");
    for (std::size_t each = 0; each < lost_reason_count; ++each) {
        const auto* const reason = to_string(static_cast<lost_reason>(each));
        to.sample(of.counts.postgres_losses[each], {{"side", "postgres"}, {"reason", reason}});
        to.sample(of.counts.broker_losses[each], {{"side", "nats"}, {"reason", reason}});
    }
}

void write_tables(metric_writer& to, const relay_report& of) {
    const auto for_each = [&](auto&& write) {
        for (std::size_t index = 0; index < of.tables.size(); ++index) {
            write(of.tables[index], of.counts.tables[index]);
        }
    };
    to.family("rows_received_total", "counter",
              "Rows of the outbox that the slot sent, also again.");
    for_each([&](const std::string& name, const table_counts& counts) {
        to.sample(counts.rows_received, {{"table", name}});
    });
    to.family("last_row_timestamp_seconds", "gauge",
              "Commit of the row that the slot sent last; absent before the first.");
    for_each([&](const std::string& name, const table_counts& counts) {
        if (counts.last_row != wall_time{}) {
            to.sample(seconds(counts.last_row.time_since_epoch()), {{"table", name}});
        }
    });
    to.family("write_back_rows_total", "counter", "Rows whose status was written back.");
    for_each([&](const std::string& name, const table_counts& counts) {
        to.sample(counts.rows_written_back, {{"table", name}});
    });
    to.family("dead_letters_total", "counter", "Rows that were set aside as dead letters.");
    for_each([&](const std::string& name, const table_counts& counts) {
        for (std::size_t each = 0; each < letter_reason_count; ++each) {
            to.sample(counts.dead_letters[each],
                      {{"table", name}, {"reason", to_string(static_cast<letter_reason>(each))}});
        }
    });
}

void write_time(metric_writer& to, std::string_view name, std::string_view help, wall_time at) {
    if (at != wall_time{}) {
        to.family(name, "gauge", help);
        to.sample(seconds(at.time_since_epoch()));
    }
}

/// Of the tables that are cleaned here and now; a standby cleans none.
void write_cleanup(metric_writer& to, const relay_report& of) {
    const auto for_each = [&](auto&& write) {
        for (std::size_t index = 0; index < of.tables.size(); ++index) {
            write(of.tables[index], of.cleanup[index]);
        }
    };
    to.family("cleanup_rows_deleted_total", "counter", "Rows that the clean-up deleted.");
    for_each([&](const std::string& name, const cleanup_counts& counts) {
        to.sample(counts.rows_deleted, {{"table", name}});
    });
    to.family("cleanup_failures_total", "counter",
              "Tries of the clean-up that failed, each followed by another try.");
    for (std::size_t each = 0; each < lost_reason_count; ++each) {
        std::uint64_t failures = 0;
        for_each([&](const std::string& /*name*/, const cleanup_counts& counts) {
            failures += counts.failures[each];
        });
        to.sample(failures, {{"reason", to_string(static_cast<lost_reason>(each))}});
    }
    to.family("cleanup_lag_seconds", "gauge",
              "Since the oldest row is due that is not deleted; 0 if none is due.");
    for_each([&](const std::string& name, const cleanup_counts& counts) {
        if (const auto lag = counts.lag(of.now)) {
            to.sample(seconds(*lag), {{"table", name}});
        }
    });
}

/// Of the slowest message of the last minute, where it is part of a trace. A traceparent is
/// "<version>-<trace id>-<parent id>-<flags>", with 32 digits for the trace
/// (www.w3.org/TR/trace-context).
std::optional<exemplar> exemplar_of(const std::optional<slow_message>& slow) {
    constexpr std::size_t id_at = 3;
    constexpr std::size_t id_digits = 32;
    const auto is_digit = [](char each) {
        return (each >= '0' && each <= '9') || (each >= 'a' && each <= 'f');
    };
    if (!slow || slow->trace.size() < id_at + id_digits) {
        return std::nullopt;
    }
    auto id = slow->trace.substr(id_at, id_digits);
    return std::ranges::all_of(id, is_digit)
               ? std::optional(exemplar{slow->took, std::move(id), slow->stored_at})
               : std::nullopt;
}

void write_flow(metric_writer& to, const relay_report& of) {
    const auto& counts = of.counts;
    to.family("transactions_received_total", "counter",
              "Transactions that the slot sent to their end.");
    to.sample(counts.transactions_received);
    to.family("wal_received_bytes_total", "counter", "Bytes of the replication stream.");
    to.sample(counts.wal_received_bytes);
    to.family("messages_stored_total", "counter",
              "Messages that the broker has acked, by why they were published.");
    for (std::size_t each = 0; each < message_cause_count; ++each) {
        to.sample(counts.stored_by_cause[each],
                  {{"source", to_string(static_cast<message_cause>(each))}});
    }
    to.family("stored_body_bytes_total", "counter", "Bytes of the bodies of those messages.");
    to.sample(counts.stored_body_bytes);
    to.family("messages_skipped_total", "counter",
              "Rows that were not published because the stream has them.");
    to.sample(counts.skipped_already_stored, {{"reason", "already_stored"}});
    to.sample(counts.skipped_duplicate_id, {{"reason", "duplicate_id"}});
    to.family("publish_failures_total", "counter", "Publishes that the broker did not store.");
    for (std::size_t each = 0; each < publish_trouble_count; ++each) {
        to.sample(counts.publish_failures[each],
                  {{"class", to_string(static_cast<publish_trouble>(each))}});
    }
    to.family("reading_paused_seconds_total", "counter",
              "For how long the slot was not read, as the window was full or something had to end "
              "first.");
    to.sample(seconds(counts.reading_paused));
    to.family("commit_to_ack_seconds", "histogram",
              "From the commit of a row to the broker's ack, by the clocks of both machines.");
    to.histogram(counts.commit_to_ack, exemplar_of(of.status.slowest));
    to.family("publish_ack_seconds", "histogram", "From a publish to the broker's ack.");
    to.histogram(counts.publish_to_ack);
}

void write_startup_check(metric_writer& to, const relay_counts& counts) {
    if (counts.startup_checked != wall_time{}) {
        write_time(to, "startup_check_timestamp_seconds", "When newest rows were compared last.",
                   counts.startup_checked);
        to.family("startup_check_missing_rows", "gauge",
                  "Newest rows that were neither in the stream nor set aside then.");
        to.sample(counts.startup_check_missing);
    }
}

void write_load(metric_writer& to, const relay_report& of) {
    const auto gauge = [&](std::string_view name, std::string_view help, double value) {
        to.family(name, "gauge", help);
        to.sample(value);
    };
    const auto& status = of.status;
    if (status.lag) {
        gauge("lag_seconds",
              "Since the commit of the oldest row that is not stored; 0 if there is none, absent "
              "where that is not known.",
              seconds(*status.lag));
    }
    gauge("oldest_unacked_seconds",
          "Since the oldest message that is not stored was sent first; 0 if there is none.",
          seconds(status.oldest_unacked));
    write_time(to, "last_commit_timestamp_seconds", "Commit of the row that was stored last.",
               of.counts.last_commit);
    write_time(to, "last_stored_timestamp_seconds", "When a message was stored last.",
               of.counts.last_stored);
    write_time(to, "last_server_message_timestamp_seconds", "When PostgreSQL sent something last.",
               of.counts.last_frame);
    gauge("window_messages", "Messages that are not stored yet.",
          static_cast<double>(status.window_messages));
    gauge("window_bytes", "Bytes of those messages.", static_cast<double>(status.window_bytes));
    gauge("window_limit_messages", "The most messages of the window.",
          static_cast<double>(status.window_limit_messages));
    gauge("window_limit_bytes", "The most bytes of the window.",
          static_cast<double>(status.window_limit_bytes));
    gauge("reading_paused",
          "1 while the slot is not read, as the window is full or something has to end first.",
          number(status.reading_paused));
    gauge("write_back_pending_rows", "Rows that are not written back yet.",
          static_cast<double>(status.write_back_pending));
}

void write_slot(metric_writer& to, const slot_usage& slot) {
    const auto gauge = [&](std::string_view name, std::string_view help, auto value) {
        to.family(name, "gauge", help);
        to.sample(static_cast<double>(value));
    };
    gauge("slot_lag_bytes", "WAL that the slot has not confirmed.", slot.lag_bytes);
    gauge("slot_retained_bytes", "WAL that the server keeps for the slot.", slot.retained_bytes);
    if (slot.safe_wal_bytes) {
        gauge("slot_safe_wal_bytes", "WAL that may be written before the slot is lost.",
              *slot.safe_wal_bytes);
    }
    to.family("slot_wal_status", "gauge", "1 for the slot's wal_status, 0 for all others.");
    for (const char* const each : {"reserved", "extended", "unreserved", "lost"}) {
        to.sample(number(slot.wal_status == each), {{"status", each}});
    }
    gauge("slot_catalog_xmin_age_transactions",
          "Transactions since the oldest one whose catalog rows the slot keeps.",
          slot.catalog_xmin_age);
}

void write_kept(metric_writer& to, const kept_positions& kept) {
    to.family("bookmarks", "gauge", "Bookmarks by what has become of them.");
    for (const auto state : {kept_state::kept, kept_state::lost, kept_state::gone}) {
        const auto counted = std::ranges::count_if(kept.all, [&](const kept_position& each) {
            return each.kind == kept_kind::bookmark && each.state == state;
        });
        to.sample(static_cast<double>(counted), {{"state", to_string(state)}});
    }
    to.family("bookmarks_retained_bytes", "gauge",
              "WAL that the server keeps for bookmarks and the trail together.");
    to.sample(held_bytes_of(kept));
    to.family("replays_unfinished", "gauge", "Replays that are under way, or were broken off.");
    to.sample(kept.replays.size());
    to.family("replay_remaining_rows", "gauge", "Rows that these have still to write.");
    to.sample(remaining_rows_of(kept));
    const auto* const trail = find_trail(kept);
    if (trail != nullptr && trail->covers_from) {
        to.family("trail_seconds", "gauge", "How far back the trail reaches.");
        to.sample(seconds(kept.read_at - *trail->covers_from));
    }
}

void write_what_gave_way(metric_writer& to, const kept_counts& counts) {
    to.family("bookmarks_dropped_total", "counter", "Bookmarks that the relay dropped.");
    for (std::size_t each = 0; each < giving_way_count; ++each) {
        to.sample(counts.bookmarks[each], {{"reason", to_string(static_cast<giving_way>(each))}});
    }
    to.family("trail_cut_total", "counter",
              "Times that the trail was dropped, or moved on before its time.");
    for (std::size_t each = 0; each < giving_way_count; ++each) {
        to.sample(counts.trails[each] + counts.moved_on[each],
                  {{"reason", to_string(static_cast<giving_way>(each))}});
    }
}

void write_letters(metric_writer& to, const open_letters& letters) {
    to.family("dead_letters", "gauge",
              "Rows that are set aside, but for those whose retry is in the stream.");
    for (std::size_t each = 0; each < letter_reason_count; ++each) {
        to.sample(letters.counted[each], {{"reason", to_string(static_cast<letter_reason>(each))}});
    }
}

void write_facts(metric_writer& to, const relay_report& of) {
    if (of.slot_facts.facts) {
        write_slot(to, *of.slot_facts.facts);
        if (of.slot_danger_in) {
            to.family("slot_danger_seconds", "gauge",
                      "Until the server may remove WAL that the slot needs, as the last minutes "
                      "went.");
            to.sample(seconds(*of.slot_danger_in));
        }
    }
    if (of.clock_offset) {
        to.family("clock_offset_seconds", "gauge", "PostgreSQL's clock minus the relay's.");
        to.sample(seconds(*of.clock_offset));
    }
    if (const auto& stream = of.stream_facts.facts) {
        to.family("stream_messages", "gauge", "Messages in the stream.");
        to.sample(stream->messages);
        to.family("stream_bytes", "gauge", "Bytes of the stream.");
        to.sample(stream->bytes);
        to.family("stream_last_sequence", "gauge", "The last sequence of the stream.");
        to.sample(stream->last_sequence);
    }
    if (of.letters.facts) {
        write_letters(to, *of.letters.facts);
    }
    if (const auto& findings = of.findings.facts) {
        to.family("findings", "gauge", "What walrelay check would find now.");
        for (const auto severity :
             {finding_severity::note, finding_severity::warning, finding_severity::error}) {
            to.sample(static_cast<std::uint64_t>(
                          std::ranges::count(*findings, severity, &finding::severity)),
                      {{"severity", to_string(severity)}});
        }
    }
    if (of.kept.facts) {
        write_kept(to, *of.kept.facts);
    }
    write_what_gave_way(to, of.kept_counts);
    to.family("facts_age_seconds", "gauge", "Since a server was last asked in the background.");
    const auto age = [&](const auto& facts, std::string_view about) {
        if (facts.age) {
            to.sample(seconds(*facts.age), {{"about", about}});
        }
    };
    age(of.slot_facts, "slot");
    age(of.stream_facts, "stream");
    age(of.letters, "dead_letters");
    age(of.findings, "findings");
    age(of.kept, "kept_positions");
}

void write_traces(metric_writer& to, const trace_counts& counts) {
    to.family("trace_spans_total", "counter", "Spans of sampled rows, by what has become of them.");
    for (std::size_t each = 0; each < trace_result_count; ++each) {
        to.sample(counts[each], {{"result", to_string(static_cast<trace_result>(each))}});
    }
}

void write_process(metric_writer& to, const relay_report& of) {
    to.family("event_loop_lag_seconds", "histogram",
              "How late a timer of the relay's one thread was.");
    to.histogram(of.loop_lag);
    to.family("process_cpu_seconds_total", "counter", "CPU time of the process.");
    to.sample(of.process.cpu_seconds);
    to.family("process_resident_memory_bytes", "gauge", "Resident memory of the process.");
    to.sample(of.process.resident_bytes);
    to.family("process_open_fds", "gauge", "Open file descriptors.");
    to.sample(of.process.open_files);
    to.family("process_max_fds", "gauge", "The most file descriptors.");
    to.sample(of.process.most_files);
    to.family("process_start_time_seconds", "gauge", "When the process was started.");
    to.sample(seconds(of.started.time_since_epoch()));
}

}  // namespace

std::string metrics_text(const relay_report& of, metric_format format) {
    metric_writer to(format);
    write_identity(to, of);
    write_state(to, of);
    write_tables(to, of);
    write_cleanup(to, of);
    write_flow(to, of);
    // What a standby would say of lag and window says nothing of the rows.
    if (of.status.state != relay_state::standby) {
        write_load(to, of);
        write_startup_check(to, of.counts);
    }
    write_facts(to, of);
    if (of.traces) {
        write_traces(to, *of.traces);
    }
    write_process(to, of);
    return to.take();
}

}  // namespace walrelay::http
