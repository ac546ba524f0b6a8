// What becomes of an exception that a coroutine throws which nobody waits for.
#pragma once

#include <exception>

namespace walrelay {

/// A completion handler for asio::co_spawn. Without it, with asio::detached, the exception vanishes
/// and what the coroutine was to do is never done; thrown on, it ends the event loop, and with it
/// the program.
struct rethrow {
    void operator()(const std::exception_ptr& thrown) const {
        if (thrown) {
            std::rethrow_exception(thrown);
        }
    }
};

}  // namespace walrelay
