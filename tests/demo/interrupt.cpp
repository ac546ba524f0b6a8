// See interrupt.hpp.
#include "demo/interrupt.hpp"

#include "support/eventually.hpp"

#include <atomic>
#include <csignal>

namespace walrelay::demo {
namespace {

std::atomic<bool> interrupt_noted = false;

void note(int /*signal*/) {
    interrupt_noted = true;
}

}  // namespace

void note_interrupts() {
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
        std::signal(signal, note);
    }
}

bool was_interrupted() {
    return interrupt_noted;
}

void wait_until(std::chrono::milliseconds patience, const std::string& otherwise,
                const std::function<bool()>& condition) {
    bool holds = false;
    const auto ended =
        test::eventually(patience, [&] { return was_interrupted() || (holds = condition()); });
    if (was_interrupted()) {
        throw interrupted();
    }
    if (!ended || !holds) {
        throw std::runtime_error(otherwise);
    }
}

void let_pass(std::chrono::milliseconds duration) {
    if (test::eventually(duration, was_interrupted)) {
        throw interrupted();
    }
}

}  // namespace walrelay::demo
