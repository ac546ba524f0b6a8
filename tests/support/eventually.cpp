// See eventually.hpp. The one place in the tests that lets time pass.
#include "support/eventually.hpp"

#include <poll.h>

namespace walrelay::test {
namespace {

// Short enough not to slow a test down, long enough to leave the processors to the servers. poll()
// on nothing is a pause; no test needs one of its own.
constexpr int pause_milliseconds = 15;

void pause_a_moment() {
    poll(nullptr, 0, pause_milliseconds);
}

bool becomes(bool wanted, std::chrono::milliseconds patience,
             const std::function<bool()>& condition) {
    const auto deadline = std::chrono::steady_clock::now() + patience;
    while (condition() != wanted) {
        if (std::chrono::steady_clock::now() >= deadline) {
            return false;
        }
        pause_a_moment();
    }
    return true;
}

}  // namespace

bool eventually(std::chrono::milliseconds patience, const std::function<bool()>& condition) {
    return becomes(true, patience, condition);
}

bool throughout(std::chrono::milliseconds duration, const std::function<bool()>& condition) {
    return !becomes(false, duration, condition);
}

}  // namespace walrelay::test
