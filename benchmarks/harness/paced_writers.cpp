#include "harness/paced_writers.hpp"

#include "harness/backlog.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <mutex>
#include <thread>

namespace walrelay::bench {
namespace {

using clock_type = std::chrono::steady_clock;

struct shared_work {
    const std::string& conninfo;
    const pace& how;
    std::vector<clock_type::time_point>& committed;
    std::mutex guard = {};
    std::exception_ptr failure = {};
};

/// Transactions go round: the first to the first writer, the second to the second, and so on.
void write_share(const shared_work& work, std::uint64_t writer, clock_type::time_point start) {
    test::postgres_session session(work.conninfo);
    prepare_put(session);
    const auto& how = work.how;
    const auto interval = std::chrono::nanoseconds(std::chrono::seconds(how.rows_per_transaction)) /
                          how.rows_per_second;
    const auto transactions = how.rows() / how.rows_per_transaction;
    for (auto turn = writer; turn < transactions; turn += how.writers) {
        std::this_thread::sleep_until(start + interval * turn);
        const auto first = turn * how.rows_per_transaction + 1;
        const auto last = first + how.rows_per_transaction - 1;
        session.execute(fmt::format("EXECUTE put({}, {})", first, last));
        const auto now = clock_type::now();
        for (auto row = first; row <= last; ++row) {
            work.committed[row] = now;
        }
    }
}

void write_guarded(shared_work& work, std::uint64_t writer, clock_type::time_point start) {
    try {
        write_share(work, writer, start);
    } catch (...) {
        const std::lock_guard lock(work.guard);
        work.failure = std::current_exception();
    }
}

}  // namespace

pace pace_of(std::uint64_t rows_per_second, std::uint64_t seconds) {
    constexpr std::uint64_t transactions_most = 1000;
    return {.rows_per_second = rows_per_second,
            .rows_per_transaction = std::max<std::uint64_t>(1, rows_per_second / transactions_most),
            .seconds = seconds};
}

std::vector<clock_type::time_point> write_at(const std::string& conninfo, const pace& how) {
    std::vector<clock_type::time_point> committed(how.rows() + 1);
    shared_work work{.conninfo = conninfo, .how = how, .committed = committed};
    // Time for each to connect.
    const auto start = clock_type::now() + std::chrono::milliseconds(100);
    std::vector<std::thread> threads;
    for (std::uint64_t writer = 0; writer < how.writers; ++writer) {
        threads.emplace_back(write_guarded, std::ref(work), writer, start);
    }
    for (auto& thread : threads) {
        thread.join();
    }
    if (work.failure) {
        std::rethrow_exception(work.failure);
    }
    return committed;
}

}  // namespace walrelay::bench
