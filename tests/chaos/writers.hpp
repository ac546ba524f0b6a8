// Services that write into the outbox while faults happen, each over a connection of its own.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace walrelay::chaos {

struct writing {
    unsigned writers = 4;
    std::uint64_t seed = 1;
    /// Of all writers together.
    std::uint64_t rows_per_second = 2000;
};

/// They connect again when the server goes away. What they managed to commit is what the table
/// says; rows() is what they were told.
class writers {
public:
    writers(std::string conninfo, const writing& how);
    ~writers();
    writers(const writers&) = delete;
    writers& operator=(const writers&) = delete;

    /// Returns once the last transaction has come to its end.
    void stop();
    /// Committed so far.
    [[nodiscard]] std::uint64_t rows() const { return rows_; }

private:
    class worker;

    std::string conninfo_;
    std::atomic<std::uint64_t> rows_ = 0;
    std::mutex mutex_;
    std::condition_variable wake_;
    bool stopping_ = false;
    std::vector<std::thread> threads_;
};

}  // namespace walrelay::chaos
