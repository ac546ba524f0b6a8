// What other sessions do to the database while the relay works: long and prepared transactions,
// locks, DDL, VACUUM. Nothing of it has to do with a row on its way to the stream.
#pragma once

#include "chaos/dice.hpp"
#include "soak/diary.hpp"
#include "soak/pace.hpp"
#include "soak/workers.hpp"

#include <cstdint>
#include <string>

namespace walrelay::soak {

namespace kinds {
inline constexpr const char* report = "report in REPEATABLE READ";
inline constexpr const char* idle_transaction = "idle transaction that has written";
inline constexpr const char* prepared = "prepared transaction";
inline constexpr const char* outbox_locked = "outbox locked, ACCESS EXCLUSIVE";
inline constexpr const char* outbox_shared = "outbox locked, SHARE ROW EXCLUSIVE";
inline constexpr const char* rows_locked = "rows of an outbox locked, FOR UPDATE";
inline constexpr const char* other_locked = "another table locked";
inline constexpr const char* advisory = "advisory lock";
inline constexpr const char* ddl = "CREATE TABLE, fill, DROP";
inline constexpr const char* partitions = "partitions made, detached, dropped";
inline constexpr const char* vacuum = "VACUUM";
inline constexpr const char* index = "CREATE INDEX CONCURRENTLY";
inline constexpr const char* log_pause = "nobody reads the log";
}  // namespace kinds

/// Whether rows of an outbox cannot be written back meanwhile, so that the slot must not pass them.
[[nodiscard]] bool holds_write_backs(const std::string& kind);

class disturbances {
public:
    disturbances(std::string conninfo, const pace& how, diary& book, std::uint64_t seed);
    ~disturbances() { stop(); }
    disturbances(const disturbances&) = delete;
    disturbances& operator=(const disturbances&) = delete;

    /// Ends all of it, transactions that are prepared included.
    void stop();

private:
    using session = test::postgres_session;

    void add(void (disturbances::*what)(session&, chaos::dice&), std::uint64_t seed);
    /// Leaves the session as it is for so long. Throws once the server has taken it away.
    void hold(session& sql, std::chrono::milliseconds duration);
    [[nodiscard]] static std::chrono::milliseconds draw(chaos::dice& random, const span& from);

    void run_reports(session& sql, chaos::dice& random);
    void stay_idle(session& sql, chaos::dice& random);
    void prepare(session& sql, chaos::dice& random);
    void lock_outboxes(session& sql, chaos::dice& random);
    void lock_rows(session& sql, chaos::dice& random);
    void lock_others(session& sql, chaos::dice& random);
    void change_schema(session& sql, chaos::dice& random);
    void keep_partitions(session& sql, chaos::dice& random);
    void vacuum(session& sql, chaos::dice& random);
    void make_indexes(session& sql, chaos::dice& random);
    void end_prepared(const std::string& how);

    std::string conninfo_;
    pace pace_;
    diary& book_;
    workers threads_;
};

}  // namespace walrelay::soak
