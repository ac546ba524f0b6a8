#include "tasks/replay/replay_progress_line.hpp"

#include "core/one_line.hpp"
#include "core/progress.hpp"

#include <fmt/format.h>

#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <string>

namespace walrelay::tasks {
namespace {

using namespace std::chrono_literals;

std::string share_of(const replay_progress& now, double rows_per_second) {
    if (now.planned == 0) {
        return "";
    }
    const auto done = static_cast<double>(now.rows) / static_cast<double>(now.planned);
    auto text = fmt::format(" of {} ({:.0f} %)", counted(now.planned, "row"), 100 * done);
    if (rows_per_second > 0 && now.rows < now.planned) {
        text += ", " + time_left(static_cast<double>(now.planned - now.rows) / rows_per_second);
    }
    return text;
}

}  // namespace

replay_progress_line::replay_progress_line() : on_terminal_(isatty(STDERR_FILENO) == 1) {}

void replay_progress_line::show(const replay_progress& now) {
    const auto time = clock::now();
    if (!began_) {
        began_ = true;
        began_at_ = time;
        shown_at_ = time;
        rows_at_start_ = now.rows;
    }
    last_ = now;
    if (time - shown_at_ < (on_terminal_ ? clock::duration(200ms) : clock::duration(5s))) {
        return;
    }
    shown_at_ = time;
    const std::chrono::duration<double> passed = time - began_at_;
    const auto rate = static_cast<double>(now.rows - rows_at_start_) / passed.count();
    auto line = fmt::format("replay: {}{}, {} rows/s",
                            now.planned == 0 ? counted(now.rows, "row") : with_thousands(now.rows),
                            share_of(now, rate),
                            with_thousands(static_cast<std::uint64_t>(std::llround(rate))));
    if (now.waits_for == replay_wait::relay) {
        line += "; no relay runs on the slot: it goes on when one does";
    } else if (now.waits_for == replay_wait::broker) {
        line += "; it goes on when the broker takes messages: " + one_line(now.trouble);
    }
    fmt::print(stderr, "{}{}{}", on_terminal_ ? "\r" : "", line, on_terminal_ ? "\033[K" : "\n");
    has_line_ = on_terminal_;
}

void replay_progress_line::end() {
    if (has_line_) {
        fmt::print(stderr, "\r\033[K");
        has_line_ = false;
    }
}

}  // namespace walrelay::tasks
