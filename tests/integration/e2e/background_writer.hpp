// A service that writes into `outbox_events` while the test does something to the servers.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>

namespace walrelay::test {

/// Commits transactions of one to three rows, numbered upwards from `first`, as aggregate
/// `writer-<first>`, until it is stopped; every seventh is rolled back. Connects again, and goes on
/// with a new number, when the server goes away; what it managed to commit is what the table says.
class background_writer {
public:
    /// About 1,000 transactions a second and less.
    background_writer(std::string conninfo, std::uint64_t first = 1);
    ~background_writer();
    background_writer(const background_writer&) = delete;
    background_writer& operator=(const background_writer&) = delete;

    /// Returns once the last transaction has come to its end.
    void stop();
    /// Transactions committed so far.
    [[nodiscard]] std::uint64_t commits() const { return commits_; }

private:
    void work();
    void write_until_lost();

    std::string conninfo_;
    std::uint64_t first_;
    std::uint64_t next_;
    std::atomic<bool> stopping_ = false;
    std::atomic<std::uint64_t> commits_ = 0;
    std::thread thread_;
};

}  // namespace walrelay::test
