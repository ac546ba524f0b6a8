// A thread that works over a PostgreSQL connection of its own until it is told to stop, and makes a
// new one whenever the server has taken it away.
#pragma once

#include "support/postgres_session.hpp"

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace walrelay::soak {

class workers {
public:
    workers() = default;
    ~workers() { stop(); }
    workers(const workers&) = delete;
    workers& operator=(const workers&) = delete;

    /// Calls `work` again and again, also after it has thrown std::runtime_error.
    void add(std::function<void()> work);
    /// The same with a new connection each time.
    void add_session(const std::string& conninfo,
                     std::function<void(test::postgres_session&)> work);

    /// For those who work: lets time pass, which is part of what they do. False once it is time to
    /// stop.
    [[nodiscard]] bool pass(std::chrono::milliseconds duration);
    [[nodiscard]] bool stopping();

    /// Tells all of them, and waits for none.
    void ask_to_stop();
    /// Waits for all of them.
    void stop();

private:
    std::mutex mutex_;
    std::condition_variable wake_;
    bool stopping_ = false;
    std::vector<std::thread> threads_;
};

}  // namespace walrelay::soak
