// See background_writer.hpp.
#include "integration/e2e/background_writer.hpp"

#include "support/eventually.hpp"
#include "support/outbox_events.hpp"
#include "support/postgres_session.hpp"

#include <stdexcept>
#include <utility>

namespace walrelay::test {

background_writer::background_writer(std::string conninfo, std::uint64_t first)
    : conninfo_(std::move(conninfo)), first_(first), next_(first), thread_([this] { work(); }) {}

background_writer::~background_writer() {
    stop();
}

void background_writer::stop() {
    stopping_ = true;
    if (thread_.joinable()) {
        thread_.join();
    }
}

void background_writer::work() {
    while (!stopping_) {
        try {
            write_until_lost();
        } catch (const std::runtime_error&) {
            // The server is away; it comes back, or the test stops this writer.
            (void)eventually(std::chrono::milliseconds(20), [this] { return stopping_.load(); });
        }
    }
}

void background_writer::write_until_lost() {
    constexpr std::uint64_t sizes = 3;
    constexpr std::uint64_t rollback_every = 7;
    const auto aggregate = "writer-" + std::to_string(first_);
    postgres_session session(conninfo_);
    for (std::uint64_t count = 1; !stopping_; ++count) {
        const auto last = next_ + count % sizes;
        const auto insert = insert_events(std::exchange(next_, last + 1), last, aggregate);
        const bool rolled_back = count % rollback_every == 0;
        // The server does the pacing.
        session.execute("BEGIN; " + insert + "; SELECT pg_sleep(0.001)");
        session.execute(rolled_back ? "ROLLBACK" : "COMMIT");
        commits_ += rolled_back ? 0 : 1;
    }
}

}  // namespace walrelay::test
