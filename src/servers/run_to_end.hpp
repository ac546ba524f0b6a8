// Runs one coroutine on an io_context of its own until it is done; for commands that end by
// themselves.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/thread_pool.hpp>

#include <exception>
#include <optional>
#include <stop_token>
#include <utility>

namespace walrelay::servers {

/// Where a command's coroutine runs, and where the blocking calls of libraries do.
struct executors {
    boost::asio::any_io_executor loop;
    boost::asio::any_io_executor blocking;
    /// Nobody waits any more for what takes long.
    std::stop_token given_up = {};
};

/// Ends before the coroutine is done once `given_up` says so; its exit code is missing then.
template <class Function>
std::optional<int> run_unless(std::stop_token given_up, Function command) {
    boost::asio::io_context io(1);
    boost::asio::thread_pool blocking(1);
    std::optional<int> exit_code;
    boost::asio::co_spawn(io,
                          command(executors{io.get_executor(), blocking.get_executor(), given_up}),
                          [&](const std::exception_ptr& thrown, int code) {
                              if (thrown) {
                                  std::rethrow_exception(thrown);
                              }
                              exit_code = code;
                              io.stop();
                          });
    const std::stop_callback end(std::move(given_up), [&io] { io.stop(); });
    io.run();
    blocking.join();
    return exit_code;
}

template <class Function>
int run_to_end(Function command) {
    return *run_unless({}, std::move(command));
}

}  // namespace walrelay::servers
