// A relay as it is reported, with something in every part.
#pragma once

#include "http/report.hpp"

#include <string>

namespace walrelay::http {

inline relay_report sample_report(std::size_t tables = 1) {
    using namespace std::chrono_literals;
    relay_report report;
    report.now = wall_time{1'700'000'100s};
    report.started = wall_time{1'700'000'000s};
    report.since = wall_time{1'700'000'010s};
    report.version = "1.2.3";
    report.slot = "walrelay";
    report.database = "app";
    report.stream = "OUTBOX";
    report.plugin = "pgoutput";
    report.status.state = relay_state::streaming;
    report.status.is_leader = true;
    report.status.postgres_connected = true;
    report.status.broker_connected = true;
    report.status.window_messages = 7;
    report.status.window_limit_messages = 4096;
    report.status.lag = 1500ms;
    report.status.confirmed = lsn{0x16F8E10};
    for (std::size_t index = 0; index < tables; ++index) {
        report.tables.push_back("public.events_" + std::to_string(index));
        report.counts.tables.push_back({11, wall_time(1790000000s), 10, {2, 3}});
        report.cleanup.push_back({21, {0, 0, 1, 0, 0}, true, report.now - 90s});
    }
    report.counts.messages_stored = 9;
    report.counts.stored_by_cause = {4, 2, 1, 1, 1};
    report.counts.stored_body_bytes = 4096;
    report.counts.reading_paused = 2500ms;
    report.counts.startup_checked = report.started + 1s;
    report.counts.publish_failures[0] = 4;
    report.counts.broker_losses[1] = 5;
    report.counts.commit_to_ack.add(400us);
    report.counts.commit_to_ack.add(2h);
    report.counts.last_stored = report.now;
    report.slot_facts = {slot_usage{1000, 2000, 3000, "reserved", 44, {}}, 1500ms};
    report.stream_facts = {stream_usage{17, 1800, 19}, 2s};
    report.letters = {
        open_letters{{6, 8},
                     {{41, "public.orders", "7f", "no value of event_type", report.now - 1h}}},
        3s};
    report.slot_danger_in = 7200s;
    report.findings = {std::vector<finding>{{finding_severity::warning, "row_security_hides_rows",
                                             "rows are hidden", "let them be seen"}},
                       30s};
    kept_positions kept;
    kept.read_at = report.now;
    kept.all.resize(2);
    kept.all[0].name = "before";
    kept.all[0].is_ours = true;
    kept.all[0].held_bytes = 900;
    kept.all[0].confirmed = lsn{0x16F8E10};
    kept.all[0].comment = "not shown";
    kept.all[1].kind = kept_kind::trail;
    kept.all[1].covers_from = report.now - 30min;
    kept.replays = {{"walrelay_at_before", std::nullopt, 3, 120, 50}};
    report.kept = {kept, 4s};
    report.kept_counts.bookmarks[1] = 2;
    report.kept_counts.trails[4] = 1;
    report.kept_counts.moved_on[1] = 3;
    report.clock_offset = -2ms;
    report.traces = trace_counts{31, 3, 2};
    report.log = {{report.now, "info", "streaming", "streaming"}};
    report.last_trouble = {report.started, "warning", "broker_lost", "the broker is away"};
    return report;
}

}  // namespace walrelay::http
