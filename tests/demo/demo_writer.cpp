// See demo_writer.hpp.
#include "demo/demo_writer.hpp"

#include "support/eventually.hpp"
#include "support/outbox_events.hpp"

#include <stdexcept>

namespace walrelay::demo {
namespace {

constexpr std::uint64_t rollback_every = 10;

/// One user registers; what is left of the events are changes of that user.
constexpr const char* insert_user_and_events = R"(
WITH new_user AS (
    INSERT INTO users (email) VALUES ('user' || floor(random() * 1e6) || '@example.com')
    RETURNING id, email
)
INSERT INTO outbox_events (id, aggregate_id, aggregate_type, event_type, event_data, metadata,
                           status, version, created_at)
SELECT gen_random_uuid(), new_user.id::text, 'user',
       CASE WHEN n = 1 THEN 'created' ELSE 'updated' END,
       jsonb_build_object('user_id', new_user.id, 'email', new_user.email, 'change', n),
       '{"source": "demo"}', 'pending', 1, now()
FROM new_user, generate_series(1, $1) AS n
ORDER BY n
RETURNING id
)";

std::vector<std::string> first_column(const test::sql_rows& rows) {
    std::vector<std::string> values;
    for (const auto& row : rows) {
        values.push_back(row.front().value());
    }
    return values;
}

}  // namespace

void create_tables(const std::string& conninfo) {
    test::postgres_session session(conninfo);
    session.execute(
        "CREATE TABLE users (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,"
        " email text NOT NULL, created_at timestamptz NOT NULL DEFAULT now());" +
        test::create_outbox_events());
}

demo_writer::demo_writer(const std::string& conninfo, latency_book& book,
                         std::chrono::milliseconds between)
    : session_(conninfo), book_(book), between_(between), thread_([this] { work(); }) {}

demo_writer::~demo_writer() {
    stopping_ = true;
    if (thread_.joinable()) {
        thread_.join();
    }
}

written demo_writer::stop() {
    stopping_ = true;
    if (thread_.joinable()) {
        thread_.join();
    }
    if (!failure_.empty()) {
        throw std::runtime_error("the writer failed: " + failure_);
    }
    return done_;
}

void demo_writer::work() {
    try {
        while (!test::eventually(between_, [this] { return stopping_.load(); })) {
            write_one();
        }
    } catch (const std::exception& failure) {
        failure_ = failure.what();
    }
}

void demo_writer::write_one() {
    constexpr int most_events = 4;
    std::uniform_int_distribution<int> events(1, most_events);
    session_.execute("BEGIN");
    const auto ids =
        first_column(session_.query(insert_user_and_events, {std::to_string(events(random_))}));
    if ((done_.transactions + done_.transactions_rolled_back) % rollback_every ==
        rollback_every - 1) {
        session_.execute("ROLLBACK");
        ++done_.transactions_rolled_back;
        done_.rows_rolled_back += ids.size();
        return;
    }
    book_.about_to_commit(ids);
    session_.execute("COMMIT");
    ++done_.transactions;
    done_.ids.insert(done_.ids.end(), ids.begin(), ids.end());
}

}  // namespace walrelay::demo
