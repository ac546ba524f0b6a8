// See live_list.hpp.
#include "demo/live_list.hpp"

#include "demo/paint.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <string>

namespace walrelay::demo {

live_list::live_list(latency_book& book, std::chrono::milliseconds at_most_every)
    : book_(book), at_most_every_(at_most_every) {
    fmt::print("{}\n",
               painted(hue::faint, fmt::format("{:>9} {:>9}  {:<20} {:<16} {}", "seconds",
                                               "message", "subject", "id", "after COMMIT")));
}

void live_list::arrived(const test::stored_message& message) {
    const auto latency = book_.arrived(message.header("Nats-Msg-Id"));
    const auto now = clock::now();
    last_sequence_ = message.sequence;
    if (latency) {
        newest_commit_ = now - std::chrono::duration_cast<clock::duration>(*latency);
    }
    constexpr int less_often = 20;
    const auto between = show_others_ ? at_most_every_ * less_often : at_most_every_;
    if ((show_others_ && !latency) || now - printed_ >= between) {
        printed_ = now;
        print(message, latency);
    }
    ++count_;
}

void live_list::print(const test::stored_message& message, std::optional<duration> latency) const {
    constexpr std::size_t subject_width = 20;
    constexpr std::size_t id_shown = 8;
    const std::chrono::duration<double> since = clock::now() - started_;
    const auto id = message.header("Nats-Msg-Id");
    const auto shown = id.size() <= id_shown ? id : id.substr(0, id_shown) + "...";
    const auto taken = latency ? fmt::format("{:9.2f} ms", latency->count()) : "        -";
    fmt::print("{:>9.1f} {:>9}  {:<20} {:<16} {}\n", since.count(), message.sequence,
               message.subject.substr(0, subject_width), shown, painted(hue::good, taken));
    std::fflush(stdout);
}

}  // namespace walrelay::demo
