#include "tasks/verify/verify_progress.hpp"

#include <fmt/format.h>

#include <unistd.h>

#include <cstdio>

namespace walrelay::tasks {

verify_progress::verify_progress(bool asked) : shown_(asked || isatty(STDERR_FILENO) == 1) {}

void verify_progress::expect(std::uint64_t rows, std::uint64_t messages) {
    expected_rows_ = rows;
    expected_messages_ = messages;
}

void verify_progress::tell(std::uint64_t rows, std::uint64_t messages) {
    constexpr auto pause = std::chrono::seconds(1);
    const auto now = clock::now();
    if (!shown_ || now - told_at_ < pause) {
        return;
    }
    const std::chrono::duration<double> passed = now - told_at_;
    const auto done = rows + messages;
    fmt::print(
        stderr,
        "verify: {} rows (of about {}) and {} messages (of about {}) read, {:.0f} a second\n", rows,
        expected_rows_, messages, expected_messages_,
        static_cast<double>(done - told_) / passed.count());
    told_at_ = now;
    told_ = done;
}

}  // namespace walrelay::tasks
