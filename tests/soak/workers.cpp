// See workers.hpp.
#include "soak/workers.hpp"

#include <stdexcept>
#include <utility>

namespace walrelay::soak {

void workers::add(std::function<void()> work) {
    constexpr std::chrono::milliseconds before_next_try{50};
    threads_.emplace_back([this, work = std::move(work)] {
        while (!stopping()) {
            try {
                work();
            } catch (const std::runtime_error&) {
                // The server is away, or has refused a statement: the next try follows.
                (void)pass(before_next_try);
            }
        }
    });
}

void workers::add_session(const std::string& conninfo,
                          std::function<void(test::postgres_session&)> work) {
    add([conninfo, work = std::move(work)] {
        test::postgres_session session(conninfo);
        work(session);
    });
}

bool workers::pass(std::chrono::milliseconds duration) {
    std::unique_lock lock(mutex_);
    return !wake_.wait_for(lock, duration, [this] { return stopping_; });
}

bool workers::stopping() {
    const std::scoped_lock lock(mutex_);
    return stopping_;
}

void workers::ask_to_stop() {
    {
        const std::scoped_lock lock(mutex_);
        stopping_ = true;
    }
    wake_.notify_all();
}

void workers::stop() {
    ask_to_stop();
    for (auto& thread : threads_) {
        if (thread.joinable()) {
            thread.join();
        }
    }
}

}  // namespace walrelay::soak
