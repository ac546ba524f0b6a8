#include "app/server_watch.hpp"

#include <utility>

namespace walrelay::app {

void server_watch::slot_was_read(std::optional<slot_usage> usage, instant now) {
    if (usage) {
        clock_offset_ = usage->server_time - now.wall;
    }
    forecast_.add(now.monotonic, usage ? usage->safe_wal_bytes : std::nullopt);
    slot_.answer(std::move(usage), now);
}

void server_watch::stream_was_read(std::optional<stream_usage> usage, instant now) {
    stream_.answer(usage, now);
}

void server_watch::holder_was_read(std::optional<slot_holder> holder, instant now) {
    holder_.answer(std::move(holder), now);
}

void server_watch::letters_were_read(std::optional<open_letters> found, instant now,
                                     std::chrono::steady_clock::duration rest) {
    letters_.answer(std::move(found), now, rest + facts_hold);
}

void server_watch::findings_were_read(std::optional<std::vector<finding>> found, instant now) {
    findings_.answer(std::move(found), now, findings_hold);
}

std::optional<slot_usage> server_watch::slot(instant now, bool postgres_is_there) const {
    return slot_.shown(now, postgres_is_there).facts;
}

void server_watch::show_in(http::relay_report& report, instant now, bool looks) const {
    const auto& status = report.status;
    report.slot_facts = slot_.shown(now, status.postgres_connected);
    const bool is_known = report.slot_facts.facts.has_value();
    report.slot_danger_in = is_known ? forecast_.left() : std::nullopt;
    report.clock_offset = is_known ? clock_offset_ : std::nullopt;
    report.holder = holder_.shown(now, status.state == relay_state::standby);
    report.stream_facts = stream_.shown(now, status.broker_connected);
    report.letters = letters_.shown(now, status.postgres_connected);
    report.findings = findings_.shown(now, looks && status.postgres_connected);
}

}  // namespace walrelay::app
