#include "postgres/session/apart.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <fcntl.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>

namespace walrelay::postgres {
namespace {

namespace asio = boost::asio;

/// What the thread and whoever waits for it share. The thread knows a file descriptor and no
/// executor, which may be gone before it.
class errand {
public:
    errand() : signal_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}
    errand(const errand&) = delete;
    errand& operator=(const errand&) = delete;
    ~errand() {
        if (signal_ >= 0) {
            ::close(signal_);
        }
    }

    void end() {
        done_.store(true, std::memory_order_release);
        constexpr std::uint64_t one = 1;
        static_cast<void>(!::write(signal_, &one, sizeof one));  // always takes the first one
    }
    [[nodiscard]] bool is_done() const { return done_.load(std::memory_order_acquire); }
    /// Readable once it is done; the caller's own. -1 where there is none.
    [[nodiscard]] int signal() const { return ::fcntl(signal_, F_DUPFD_CLOEXEC, 0); }

private:
    int signal_;
    std::atomic<bool> done_ = false;
};

/// The threads that are at a call.
class crowd {
public:
    void enter() {
        const std::lock_guard lock(mutex_);
        ++count_;
    }
    void leave() {
        const std::lock_guard lock(mutex_);
        --count_;
        left_.notify_all();
    }
    [[nodiscard]] bool wait_until_empty(std::chrono::milliseconds longest) {
        std::unique_lock lock(mutex_);
        return left_.wait_for(lock, longest, [this] { return count_ == 0; });
    }

private:
    std::mutex mutex_;
    std::condition_variable left_;
    std::size_t count_ = 0;
};

/// Never destroyed: a thread may leave after everything else.
crowd& the_crowd() {
    static crowd& only = *new crowd;
    return only;
}

}  // namespace

bool wait_for_calls_apart(std::chrono::milliseconds longest) {
    return the_crowd().wait_until_empty(longest);
}

asio::awaitable<bool> run_apart(asio::any_io_executor executor, std::function<void()> call,
                                std::chrono::steady_clock::time_point deadline) {
    using asio::experimental::awaitable_operators::operator||;
    const auto shared = std::make_shared<errand>();
    const int signal = shared->signal();
    if (signal < 0) {
        call();
        co_return true;
    }
    asio::posix::stream_descriptor ended(executor, signal);
    asio::steady_timer clock(executor, deadline);
    try {
        the_crowd().enter();
        std::thread([shared, call]() mutable {
            call();
            call = nullptr;
            shared->end();
            the_crowd().leave();
        }).detach();
    } catch (const std::system_error&) {
        the_crowd().leave();
        // No thread to be had: it takes the time of all others.
        call();
        co_return true;
    }
    constexpr auto as_outcome = asio::as_tuple(asio::use_awaitable);
    // Asio calls a descriptor ready for what another one, whose place in its reactor it has taken,
    // was ready for in the same round.
    while (!shared->is_done() && std::chrono::steady_clock::now() < deadline) {
        co_await (ended.async_wait(asio::posix::stream_descriptor::wait_read, as_outcome) ||
                  clock.async_wait(as_outcome));
    }
    co_return shared->is_done();
}

}  // namespace walrelay::postgres
