#include "tasks/find/find_progress.hpp"

#include "core/progress.hpp"

#include <fmt/format.h>

#include <unistd.h>

#include <cstdio>

namespace walrelay::tasks {

std::string look_in_words(const std::string& subject, std::uint64_t begin, std::uint64_t last,
                          std::uint64_t now, double seconds) {
    const auto what = subject == ">" ? std::string("all messages of the stream")
                                     : "the messages of subject " + subject;
    return "find: looks at " + what + " (--since \"2 hours ago\": only at newer ones): " +
           describe({.done = now + 1 - begin, .total = last + 1 - begin, .seconds = seconds},
                    "sequences");
}

find_progress::find_progress() : on_terminal_(isatty(STDERR_FILENO) == 1) {}

void find_progress::begin(const std::string& subject, std::uint64_t begin, std::uint64_t last) {
    subject_ = subject;
    begin_ = begin;
    last_ = last;
    begun_ = clock::now();
    told_at_ = begun_;
}

void find_progress::tell(std::uint64_t sequence) {
    constexpr std::uint64_t often = 1024;
    constexpr std::chrono::seconds on_a_terminal{1};
    constexpr std::chrono::seconds elsewhere{5};
    if (++calls_ % often != 0) {
        return;
    }
    const auto now = clock::now();
    if (now - told_at_ < (on_terminal_ ? on_a_terminal : elsewhere)) {
        return;
    }
    told_at_ = now;
    const std::chrono::duration<double> passed = now - begun_;
    const auto line = look_in_words(subject_, begin_, last_, sequence, passed.count());
    fmt::print(stderr, "{}{}{}", on_terminal_ ? "\r" : "", line, on_terminal_ ? "\x1b[K" : "\n");
    is_written_ = true;
}

void find_progress::end() {
    if (is_written_ && on_terminal_) {
        std::fputs("\r\x1b[K", stderr);
    }
    is_written_ = false;
}

}  // namespace walrelay::tasks
