// See old_poller.hpp.
#include "systems/old_poller.hpp"

namespace walrelay::test {

old_poller::old_poller(const system_bench& bench)
    : conninfo_(bench.conninfo()), url_(system_bench::nats_url()), thread_([this] { work(); }) {}

void old_poller::stop() {
    stopping_ = true;
    if (thread_.joinable()) {
        thread_.join();
    }
}

void old_poller::work() {
    postgres_session session(conninfo_);
    stream_reader broker(url_);
    while (!stopping_) {
        poll(session, broker);
    }
}

void old_poller::poll(postgres_session& session, stream_reader& broker) {
    constexpr std::uint64_t one_that_fails = 41;
    session.execute("BEGIN");
    const auto rows = session.query(
        "SELECT id, 'events.' || aggregate_type || '.' || event_type, event_data FROM outbox_events"
        " WHERE status = 'pending' OR (status = 'failed' AND next_retry_at <= now())"
        " ORDER BY created_at LIMIT 50 FOR UPDATE");
    for (const auto& row : rows) {
        const bool fails = ++rows_ % one_that_fails == 0;
        if (!fails) {
            (void)broker.publish(*row[1], *row[2], {{"Nats-Msg-Id", *row[0]}});
        }
        (void)session.query(
            fails ? "UPDATE outbox_events SET status = 'failed', retry_count = 1, last_error = "
                    "'busy', next_retry_at = now() + interval '1 hour' WHERE id = $1::uuid"
                  : "UPDATE outbox_events SET status = 'published', published_at = now() WHERE id "
                    "= $1::uuid",
            {*row[0]});
    }
    session.execute("COMMIT");
}

}  // namespace walrelay::test
