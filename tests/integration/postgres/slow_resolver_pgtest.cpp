// A host name that takes long to be looked up holds up nobody but the connection that wants it.
//
// The program has a getaddrinfo of its own, which libpq calls in the place of the C library's.
#include "postgres/session/apart.hpp"
#include "postgres_fixture.hpp"
#include "support/free_port.hpp"

#include <boost/asio/detached.hpp>
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <netdb.h>

#include <condition_variable>
#include <mutex>
#include <string>
#include <string_view>

namespace walrelay::test {
namespace {

using namespace std::chrono_literals;
using postgres::connection;
using testing::HasSubstr;

/// Looks names that end with .slow up as 127.0.0.1, once it is told to.
class resolver {
public:
    void wait() {
        std::unique_lock lock(mutex_);
        is_asked_ = true;
        // Whoever should tell it to may be waiting here himself.
        gave_up_ = !changed_.wait_for(lock, 5s, [this] { return is_told_; });
        is_done_ = true;
        changed_.notify_all();
    }
    void tell() {
        const std::lock_guard lock(mutex_);
        is_told_ = true;
        changed_.notify_all();
    }
    void reset() {
        const std::lock_guard lock(mutex_);
        is_asked_ = is_told_ = is_done_ = gave_up_ = false;
    }
    /// What was asked for has its answer, or nothing was.
    void finish() {
        tell();
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return is_done_ || !is_asked_; });
    }
    [[nodiscard]] bool is_asked() {
        const std::lock_guard lock(mutex_);
        return is_asked_;
    }
    [[nodiscard]] bool gave_up() {
        const std::lock_guard lock(mutex_);
        return gave_up_;
    }

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    bool is_asked_ = false;
    bool is_told_ = false;
    bool is_done_ = false;
    bool gave_up_ = false;
};

resolver& the_resolver() {
    static resolver only;
    return only;
}

boost::asio::awaitable<void> open_for_nobody(boost::asio::any_io_executor executor,
                                             postgres::connect_options how) {
    static_cast<void>(co_await connection::open(std::move(executor), std::move(how)));
}

class SlowResolver : public postgres_fixture {
protected:
    SlowResolver() { the_resolver().reset(); }
    ~SlowResolver() override { the_resolver().finish(); }

    void open(const std::string& conninfo, std::chrono::milliseconds timeout = 20s) {
        start(connection::open(context_.get_executor(), {.conninfo = conninfo, .timeout = timeout}),
              [this](result<connection> opened) { opened_ = std::move(opened); });
    }
    static void run_until_asked(boost::asio::io_context& io) {
        const auto deadline = std::chrono::steady_clock::now() + 30s;
        while (!the_resolver().is_asked() && std::chrono::steady_clock::now() < deadline) {
            io.restart();
            io.run_for(1ms);
        }
        EXPECT_TRUE(the_resolver().is_asked());
    }
    void expect_connection() {
        run_until_asked(context_);
        EXPECT_FALSE(opened_.has_value());
        the_resolver().tell();
        run_until([this] { return opened_.has_value(); });
        EXPECT_TRUE(opened_->has_value()) << to_string(opened_->error());
        EXPECT_FALSE(the_resolver().gave_up()) << "nothing else went on meanwhile";
    }
    [[nodiscard]] std::string rest() { return " user=postgres dbname=" + database_; }
    [[nodiscard]] std::string port() { return std::to_string(server().port()); }

    std::optional<result<connection>> opened_;
};

TEST_F(SlowResolver, LetsOthersGoOn) {
    open("host=one.slow port=" + port() + rest());
    expect_connection();
}

TEST_F(SlowResolver, LetsOthersGoOnAlsoAtALaterHost) {
    open("host=127.0.0.1,two.slow port=" + std::to_string(free_port()) + "," + port() + rest());
    expect_connection();
}

TEST_F(SlowResolver, IsWaitedForNoLongerThanAskedFor) {
    open("host=one.slow port=" + port() + rest(), 50ms);
    run_until([this] { return opened_.has_value(); });
    ASSERT_FALSE(opened_->has_value());
    EXPECT_EQ(opened_->error().code, errc::postgres_unavailable);
    EXPECT_THAT(opened_->error().what, HasSubstr("host name"));
    EXPECT_FALSE(the_resolver().gave_up());
}

TEST_F(SlowResolver, MayAnswerWhenNobodyIsThereAnyMore) {
    {
        boost::asio::io_context gone;
        postgres::connect_options how{.conninfo = "host=one.slow port=" + port() + rest()};
        boost::asio::co_spawn(gone, open_for_nobody(gone.get_executor(), std::move(how)),
                              boost::asio::detached);
        run_until_asked(gone);
    }
    EXPECT_FALSE(postgres::wait_for_calls_apart(1ms));
    the_resolver().tell();
    EXPECT_TRUE(postgres::wait_for_calls_apart(30s));
    EXPECT_FALSE(the_resolver().gave_up());
}

}  // namespace
}  // namespace walrelay::test

extern "C" int getaddrinfo(const char* node, const char* service, const addrinfo* hints,
                           addrinfo** found) {
    using function = int (*)(const char*, const char*, const addrinfo*, addrinfo**);
    static const auto real = reinterpret_cast<function>(dlsym(RTLD_NEXT, "getaddrinfo"));
    if (node != nullptr && std::string_view(node).ends_with(".slow")) {
        walrelay::test::the_resolver().wait();
        return real("127.0.0.1", service, hints, found);
    }
    return real(node, service, hints, found);
}
