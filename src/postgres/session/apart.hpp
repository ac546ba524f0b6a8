// Calls that block (libpq looks host names up in the C library), on a thread of their own.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include <chrono>
#include <functional>

namespace walrelay::postgres {

/// Runs `call` on a thread of its own. False if it has not ended at `deadline`: it goes on then,
/// also when the executor is gone. So it must own what it uses, and nobody else may touch that
/// before this has returned true.
[[nodiscard]] boost::asio::awaitable<bool> run_apart(
    boost::asio::any_io_executor executor, std::function<void()> call,
    std::chrono::steady_clock::time_point deadline);

/// For the end of the program: waits for the threads that are at such a call. One that is within
/// OpenSSL must not see its end. False if some need longer, as one that looks up a name may.
bool wait_for_calls_apart(std::chrono::milliseconds longest);

}  // namespace walrelay::postgres
