// A service with an outbox: changes its own table and tells of it, in one transaction.
#pragma once

#include "demo/latency_book.hpp"
#include "support/postgres_session.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace walrelay::demo {

/// What the writer did; complete once it has stopped.
struct written {
    std::uint64_t transactions = 0;
    std::uint64_t transactions_rolled_back = 0;
    std::uint64_t rows_rolled_back = 0;
    /// Of all committed rows, in the order of their commits.
    std::vector<std::string> ids;
};

/// Creates `users` and `outbox_events` in the database.
void create_tables(const std::string& conninfo);

/// Writes transactions of one to four events in a thread of its own: about 150 a second, or with a
/// longer pause between them fewer. Every
/// tenth transaction is rolled back after its events were inserted.
class demo_writer {
public:
    demo_writer(const std::string& conninfo, latency_book& book,
                std::chrono::milliseconds between = std::chrono::milliseconds(5));
    ~demo_writer();
    demo_writer(const demo_writer&) = delete;
    demo_writer& operator=(const demo_writer&) = delete;

    /// Throws std::runtime_error if the writing failed.
    written stop();

private:
    void work();
    void write_one();

    test::postgres_session session_;
    latency_book& book_;
    std::chrono::milliseconds between_;
    written done_;
    std::string failure_;
    std::mt19937 random_{std::random_device{}()};
    std::atomic<bool> stopping_ = false;
    std::thread thread_;
};

}  // namespace walrelay::demo
