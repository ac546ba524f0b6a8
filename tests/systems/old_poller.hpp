// A poller as the service of the example `events` had one: it reads rows by their status, publishes
// each with its id as Nats-Msg-Id, and marks it. Of some rows it says that they have failed, and
// that it wants to try them again in an hour.
#pragma once

#include "systems/system_bench.hpp"

#include <atomic>
#include <string>
#include <thread>

namespace walrelay::test {

class old_poller {
public:
    explicit old_poller(const system_bench& bench);
    ~old_poller() { stop(); }
    old_poller(const old_poller&) = delete;
    old_poller& operator=(const old_poller&) = delete;

    /// Returns once what it has published is marked.
    void stop();

private:
    void work();
    void poll(postgres_session& session, stream_reader& broker);

    std::string conninfo_;
    std::string url_;
    std::atomic<bool> stopping_ = false;
    std::uint64_t rows_ = 0;
    std::thread thread_;
};

}  // namespace walrelay::test
