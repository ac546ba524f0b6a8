#include "log/line_writer.hpp"

#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <string_view>
#include <utility>

namespace walrelay {
namespace {

constexpr std::chrono::milliseconds usual_patience{1000};

void write_all(int descriptor, std::string_view text) {
    while (!text.empty()) {
        const auto written = ::write(descriptor, text.data(), text.size());
        if (written < 0 && errno != EINTR) {
            return;  // nobody reads it any more
        }
        text.remove_prefix(written > 0 ? static_cast<std::size_t>(written) : 0);
    }
}

/// Signals are for the thread that waits for them.
void leave_signals_to_others() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, nullptr);
}

}  // namespace

line_writer::line_writer(int descriptor, std::size_t most_bytes, dropped_line of_dropped)
    : most_bytes_(most_bytes),
      shared_(std::make_shared<shared>(descriptor, std::move(of_dropped))),
      thread_([with = shared_] { work(with); }) {}

line_writer::~line_writer() {
    finish(usual_patience);
}

void line_writer::work(const std::shared_ptr<shared>& with) {
    leave_signals_to_others();
    std::unique_lock lock(with->guard);
    while (true) {
        with->changed.wait(lock, [&] { return with->ends || !with->lines.empty(); });
        if (with->lines.empty()) {
            break;
        }
        auto text = std::move(with->lines.front());
        with->lines.pop_front();
        with->bytes -= text.size();
        if (with->lines.empty() && with->dropped > 0) {
            text += with->of_dropped(std::exchange(with->dropped, 0));
        }
        lock.unlock();
        write_all(with->descriptor, text);
        lock.lock();
    }
    with->ended = true;
    with->changed.notify_all();
}

void line_writer::write(std::string line) {
    const std::lock_guard lock(shared_->guard);
    if (shared_->bytes + line.size() > most_bytes_ && !shared_->lines.empty()) {
        ++shared_->dropped;
        return;
    }
    shared_->bytes += line.size();
    shared_->lines.push_back(std::move(line));
    shared_->changed.notify_one();
}

void line_writer::finish(std::chrono::milliseconds patience) {
    if (!thread_.joinable()) {
        return;
    }
    std::unique_lock lock(shared_->guard);
    shared_->ends = true;
    shared_->changed.notify_all();
    const bool ended = shared_->changed.wait_for(lock, patience, [&] { return shared_->ended; });
    lock.unlock();
    if (ended) {
        thread_.join();
    } else {
        thread_.detach();
    }
}

}  // namespace walrelay
