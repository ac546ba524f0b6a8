// See writers.hpp.
#include "chaos/writers.hpp"

#include "chaos/transaction_maker.hpp"
#include "support/postgres_session.hpp"

#include <chrono>
#include <stdexcept>
#include <utility>

namespace walrelay::chaos {
namespace {

using clock = std::chrono::steady_clock;

/// So far apart that writers never meet, and below what an id has room for.
constexpr std::uint64_t numbers_of_a_writer = 10'000'000'000;

}  // namespace

class writers::worker {
public:
    worker(writers& owner, unsigned index, const writing& how)
        : owner_(owner),
          maker_("writer-" + std::to_string(index), index * numbers_of_a_writer + 1,
                 how.seed * 1000 + index),
          time_for_a_row_(std::chrono::nanoseconds(std::chrono::seconds(how.writers)) /
                          static_cast<std::int64_t>(how.rows_per_second)) {}

    void run() {
        constexpr std::chrono::milliseconds before_next_try{20};
        while (!pause_until(clock::now())) {
            try {
                write_until_lost();
            } catch (const std::runtime_error&) {
                // The server is away. What was not written meanwhile is not made up for.
                (void)pause_until(clock::now() + before_next_try);
            }
        }
    }

private:
    /// True if it is time to stop.
    bool pause_until(clock::time_point when) {
        std::unique_lock lock(owner_.mutex_);
        return owner_.wake_.wait_until(lock, when, [this] { return owner_.stopping_; });
    }

    void write_until_lost() {
        test::postgres_session session(owner_.conninfo_);
        auto due = clock::now();
        while (!pause_until(due)) {
            const auto transaction = maker_.next();
            session.execute(transaction.beginning);
            session.execute(transaction.ending);
            owner_.rows_ += transaction.rows;
            due += time_for_a_row_ * static_cast<std::int64_t>(transaction.rows);
        }
    }

    writers& owner_;
    transaction_maker maker_;
    std::chrono::nanoseconds time_for_a_row_;
};

writers::writers(std::string conninfo, const writing& how) : conninfo_(std::move(conninfo)) {
    for (unsigned index = 1; index <= how.writers; ++index) {
        threads_.emplace_back([this, index, how] { worker(*this, index, how).run(); });
    }
}

writers::~writers() {
    stop();
}

void writers::stop() {
    {
        const std::scoped_lock lock(mutex_);
        stopping_ = true;
    }
    wake_.notify_all();
    for (auto& thread : threads_) {
        if (thread.joinable()) {
            thread.join();
        }
    }
}

}  // namespace walrelay::chaos
