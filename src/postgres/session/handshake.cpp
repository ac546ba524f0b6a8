#include "postgres/session/handshake.hpp"

#include "postgres/session/apart.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <poll.h>

#include <functional>
#include <memory>
#include <utility>

namespace walrelay::postgres {
namespace {

namespace asio = boost::asio;
using descriptor = asio::posix::stream_descriptor;

/// Of the thread that is at a step, and of nobody else meanwhile.
struct attempt {
    explicit attempt(connect_parameters given) : parameters(std::move(given)) {}

    void begin() {
        handle.reset(
            PQconnectStartParams(parameters.keywords().data(), parameters.values().data(), 0));
        if (handle == nullptr) {
            return;
        }
        // Verbose errors name the SQLSTATE, which libpq tells in no other way before there are
        // results.
        PQsetErrorVerbosity(handle.get(), PQERRORS_VERBOSE);
        step =
            PQstatus(handle.get()) == CONNECTION_BAD ? PGRES_POLLING_FAILED : PGRES_POLLING_WRITING;
    }
    void go_on() { step = PQconnectPoll(handle.get()); }

    connect_parameters parameters;
    pq_connection handle;
    PostgresPollingStatusType step = PGRES_POLLING_FAILED;
};

/// libpq's, and never closed here.
class borrowed_socket {
public:
    borrowed_socket(const asio::any_io_executor& executor, int socket)
        : watched_(executor, socket) {}
    borrowed_socket(const borrowed_socket&) = delete;
    borrowed_socket& operator=(const borrowed_socket&) = delete;
    ~borrowed_socket() { watched_.release(); }

    [[nodiscard]] descriptor& watched() { return watched_; }

private:
    descriptor watched_;
};

/// Asio can call a socket ready that is not (see run_apart), and libpq would take it for connected.
bool is_ready(int socket, descriptor::wait_type type) {
    pollfd asked{socket, static_cast<short>(type == descriptor::wait_read ? POLLIN : POLLOUT), 0};
    return ::poll(&asked, 1, 0) != 0;
}

/// False at the deadline.
asio::awaitable<bool> wait(asio::any_io_executor executor, int socket, descriptor::wait_type type,
                           std::chrono::steady_clock::time_point deadline) {
    using asio::experimental::awaitable_operators::operator||;
    constexpr auto as_outcome = asio::as_tuple(asio::use_awaitable);
    borrowed_socket borrowed(executor, socket);
    asio::steady_timer clock(executor, deadline);
    while (!is_ready(socket, type)) {
        const auto first = co_await (borrowed.watched().async_wait(type, as_outcome) ||
                                     clock.async_wait(as_outcome));
        if (first.index() != 0) {
            co_return false;
        }
    }
    co_return true;
}

}  // namespace

asio::awaitable<handshake_end> shake_hands(asio::any_io_executor executor,
                                           connect_parameters parameters,
                                           std::chrono::steady_clock::time_point deadline) {
    using outcome = handshake_end::outcome;
    const auto trying = std::make_shared<attempt>(std::move(parameters));
    handshake_end end;
    // Named, because GCC 12 destroys twice what is made inside a co_await expression.
    const std::function<void()> begin = [trying] { trying->begin(); };
    const std::function<void()> go_on = [trying] { trying->go_on(); };
    const bool begun = co_await run_apart(executor, begin, deadline);
    if (!begun) {
        end.how = outcome::nameless;
        co_return end;
    }
    if (trying->handle == nullptr) {
        co_return end;
    }
    end.how = outcome::late;
    while (trying->step == PGRES_POLLING_READING || trying->step == PGRES_POLLING_WRITING) {
        const auto type =
            trying->step == PGRES_POLLING_READING ? descriptor::wait_read : descriptor::wait_write;
        const bool awake = co_await wait(executor, PQsocket(trying->handle.get()), type, deadline);
        if (!awake) {
            co_return end;
        }
        const bool done = co_await run_apart(executor, go_on, deadline);
        if (!done) {
            co_return end;
        }
    }
    const bool ready =
        trying->step == PGRES_POLLING_OK && PQsetnonblocking(trying->handle.get(), 1) == 0;
    end.how = ready ? outcome::ready : outcome::failed;
    end.handle = std::move(trying->handle);
    co_return end;
}

}  // namespace walrelay::postgres
