// A service that writes while the test does something else, and commits that take their time.
#pragma once

#include "systems/system_bench.hpp"

#include <atomic>
#include <thread>

namespace walrelay::test {

/// Runs the example's writer.sql again and again in a thread of its own, until it is stopped.
class busy_service {
public:
    explicit busy_service(const system_bench& bench);
    ~busy_service() { stop(); }
    busy_service(const busy_service&) = delete;
    busy_service& operator=(const busy_service&) = delete;

    /// Returns once the last transaction has come to its end.
    void stop();

private:
    std::string sql_;
    postgres_session session_;
    std::atomic<bool> stopping_ = false;
    std::thread thread_;
};

/// Has commits wait for a synchronous standby that is not there: they are in the WAL, and so in the
/// stream, but no other session sees them. For the whole server.
class slow_standby {
public:
    explicit slow_standby(const system_bench& bench);
    ~slow_standby() { arrive(); }
    slow_standby(const slow_standby&) = delete;
    slow_standby& operator=(const slow_standby&) = delete;

    /// False if no commit waits after a long time.
    [[nodiscard]] bool someone_waits();
    /// Nobody waits any more.
    void arrive();

private:
    postgres_session session_;
};

}  // namespace walrelay::test
