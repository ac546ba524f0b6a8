#include "harness/ack_watch.hpp"

namespace walrelay::bench {

ack_watch::ack_watch(const std::string& url, const std::string& stream, std::size_t most)
    : beginning_("{\"stream\":\"" + stream + "\""),
      link_(url, "_INBOX.>"),
      seen_(most),
      thread_([this] { watch(); }) {}

ack_watch::~ack_watch() {
    over_ = true;
    if (thread_.joinable()) {
        thread_.join();
    }
}

void ack_watch::note(natsMsg* answer) {
    const auto now = clock_type::now();
    const auto text = body_of(answer);
    if (!text.starts_with(beginning_)) {
        return;
    }
    const auto sequence = acked_sequence(text);
    if (sequence == 0 || sequence > seen_.size()) {
        return;
    }
    auto& moment = seen_[sequence - 1];
    if (moment == clock_type::time_point{}) {
        moment = now;
        ++count_;
    }
}

void ack_watch::watch() {
    try {
        while (!over_) {
            constexpr int look_up_milliseconds = 20;
            auto ready = link_.interest();
            poll(&ready, 1, look_up_milliseconds);
            link_.process(ready.revents, [this](natsMsg* answer) { note(answer); });
        }
    } catch (...) {
        failure_ = std::current_exception();
    }
}

std::vector<clock_type::time_point> ack_watch::stop() {
    over_ = true;
    thread_.join();
    if (failure_) {
        std::rethrow_exception(failure_);
    }
    return seen_;
}

}  // namespace walrelay::bench
