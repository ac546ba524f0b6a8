// See slot_watch.hpp.
#include "soak/slot_watch.hpp"

#include "chaos/arena.hpp"

namespace walrelay::soak {
namespace {

constexpr const char* sessions_sql = R"sql(
SELECT format('%s%s, blocked by %s: %s', state, ' on ' || wait_event, pg_blocking_pids(pid),
              left(regexp_replace(query, '\s+', ' ', 'g'), 160))
  FROM pg_stat_activity
 WHERE application_name LIKE 'relay-%' AND backend_type = 'client backend' ORDER BY pid
)sql";

}  // namespace

slot_watch::slot_watch(const std::string& conninfo) {
    thread_.add_session(conninfo, [this](test::postgres_session& sql) {
        constexpr std::chrono::milliseconds between{250};
        while (thread_.pass(between)) {
            look(sql);
        }
    });
}

void slot_watch::look(test::postgres_session& sql) {
    const auto rows =
        sql.query("SELECT confirmed_flush_lsn FROM pg_replication_slots WHERE slot_name = $1",
                  {chaos::slot_name});
    session_sample sample{.when = clock::now(), .text = {}};
    for (const auto& row : sql.query(sessions_sql)) {
        sample.text += row.front().value_or("") + "\n";
    }
    const auto confirmed = rows.empty() ? std::string() : rows.front().front().value_or("");
    const std::scoped_lock lock(mutex_);
    sessions_.push_back(std::move(sample));
    if (confirmed != confirmed_) {
        confirmed_ = confirmed;
        moves_.push_back(clock::now());
    }
}

std::vector<period> slot_watch::stands() const {
    const std::scoped_lock lock(mutex_);
    std::vector<period> result;
    for (std::size_t next = 1; next < moves_.size(); ++next) {
        result.push_back({moves_[next - 1], moves_[next]});
    }
    if (!moves_.empty() && !sessions_.empty()) {
        result.push_back({moves_.back(), sessions_.back().when});
    }
    return result;
}

std::vector<session_sample> slot_watch::sessions() const {
    const std::scoped_lock lock(mutex_);
    return sessions_;
}

}  // namespace walrelay::soak
