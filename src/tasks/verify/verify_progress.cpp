#include "tasks/verify/verify_progress.hpp"

#include "core/progress.hpp"

#include <fmt/format.h>

#include <unistd.h>

#include <cstdio>

namespace walrelay::tasks {

verify_progress::verify_progress(bool asked)
    : on_terminal_(isatty(STDERR_FILENO) == 1), shown_(asked || on_terminal_) {}

verify_progress::~verify_progress() {
    if (is_written_ && on_terminal_) {
        std::fputs("\r\x1b[K", stderr);
    }
}

void verify_progress::expect(std::uint64_t rows, std::uint64_t messages) {
    expected_ = rows + messages;
}

void verify_progress::tell(std::uint64_t rows, std::uint64_t messages) {
    constexpr std::chrono::milliseconds on_a_terminal{200};
    constexpr std::chrono::seconds elsewhere{3};
    const auto now = clock::now();
    if (!shown_ || now - told_at_ < (on_terminal_ ? on_a_terminal : elsewhere)) {
        return;
    }
    told_at_ = now;
    const std::chrono::duration<double> passed = now - begun_;
    const auto line = "verify: " + describe({.done = rows + messages,
                                             .total = expected_,
                                             .is_estimate = true,
                                             .seconds = passed.count()},
                                            "rows and messages");
    fmt::print(stderr, "{}{}{}", on_terminal_ ? "\r" : "", line, on_terminal_ ? "\x1b[K" : "\n");
    is_written_ = true;
}

}  // namespace walrelay::tasks
