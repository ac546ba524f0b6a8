// What services do in the database while the cluster changes: the same again and again, over a new
// connection when the last one is lost.
#pragma once

#include "support/postgres_session.hpp"

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <thread>

namespace walrelay::patroni {

class sql_loop {
public:
    /// `once` is called with numbers from 1 on; what it throws is a lost connection.
    sql_loop(std::string conninfo,
             std::function<void(test::postgres_session&, std::uint64_t number)> once);
    ~sql_loop();
    sql_loop(const sql_loop&) = delete;
    sql_loop& operator=(const sql_loop&) = delete;

    /// Returns once the last call has come to its end.
    void stop();
    /// Calls that came to their end without an error.
    [[nodiscard]] std::uint64_t done() const { return done_; }

private:
    void work();

    std::string conninfo_;
    std::function<void(test::postgres_session&, std::uint64_t)> once_;
    std::uint64_t next_ = 0;
    std::atomic<bool> stopping_ = false;
    std::atomic<std::uint64_t> done_ = 0;
    std::thread thread_;
};

}  // namespace walrelay::patroni
