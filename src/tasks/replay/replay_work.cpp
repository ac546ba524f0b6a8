#include "tasks/replay/replay_work.hpp"

#include "relay/intake/row_json.hpp"
#include "tasks/replay/kept_stream.hpp"

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <deque>
#include <string>
#include <utility>
#include <vector>

namespace walrelay::tasks {
namespace {

using boost::asio::awaitable;
using namespace std::chrono_literals;

constexpr std::size_t batch_rows = 500;
constexpr std::size_t batch_bytes = std::size_t{1} << 20U;
/// So many may be written that the slot has not confirmed.
constexpr std::size_t batches_ahead = 2;
constexpr auto shortest_look = 1ms;
constexpr auto longest_look = 100ms;

class replay_writer {
public:
    replay_writer(servers::executors on, const config::settings& settings,
                  postgres::connection& sql, postgres::kept_replay of, tell_progress tell)
        : on_(std::move(on)),
          settings_(settings),
          sql_(sql),
          of_(std::move(of)),
          tell_(std::move(tell)) {}

    awaitable<result<replay_outcome>> run();

private:
    awaitable<result<replay_outcome>> write_all();
    /// False where the replay was cancelled.
    awaitable<result<bool>> flush();
    /// Until at most `ahead` batches are not confirmed.
    awaitable<result<void>> wait_for_slot(std::size_t ahead);
    void take(const relay::replayed_row& row);
    void tell(bool waits_for_relay) const {
        tell_({of_.rows_written, of_.rows_planned, waits_for_relay});
    }

    servers::executors on_;
    const config::settings& settings_;
    postgres::connection& sql_;
    postgres::kept_replay of_;
    tell_progress tell_;
    std::unique_ptr<kept_stream> past_;
    std::vector<postgres::replay_row> batch_;
    std::size_t batch_bytes_ = 0;
    /// Where the WAL ended after each batch that the slot has not confirmed.
    std::deque<lsn> unconfirmed_;
};

void replay_writer::take(const relay::replayed_row& row) {
    // Its long values were never read.
    if (row.row.too_large_bytes > 0) {
        return;
    }
    batch_.push_back({row.where, row.committed_at, row.source, relay::row_as_json(row.row)});
    batch_bytes_ += batch_.back().event.size();
}

awaitable<result<bool>> replay_writer::flush() {
    if (batch_.empty()) {
        co_return true;
    }
    const auto rows = batch_.size();
    const auto last = batch_.back().where;
    auto ready = std::exchange(batch_, {});
    batch_bytes_ = 0;
    const auto written = co_await postgres::write_replay_batch(sql_, of_, std::move(ready));
    if (!written || !*written) {
        co_return written;
    }
    of_.rows_written += rows;
    of_.at = last;
    const auto pace = co_await postgres::read_replay_pace(sql_, of_.slot);
    if (!pace) {
        co_return pace.error();
    }
    unconfirmed_.push_back(pace->written);
    const auto waited = co_await wait_for_slot(batches_ahead - 1);
    co_return waited ? result<bool>(true) : waited.error();
}

awaitable<result<void>> replay_writer::wait_for_slot(std::size_t ahead) {
    auto look_after = std::chrono::milliseconds(shortest_look);
    for (;;) {
        const auto pace = co_await postgres::read_replay_pace(sql_, of_.slot);
        if (!pace) {
            co_return pace.error();
        }
        if (!pace->confirmed) {
            co_return error{errc::postgres_unsuitable,
                            "slot " + of_.slot + " is not there any more",
                            "make it again (walrelay check says how), then: walrelay replay "
                            "resume " +
                                std::to_string(of_.number)};
        }
        while (!unconfirmed_.empty() && unconfirmed_.front() <= *pace->confirmed) {
            unconfirmed_.pop_front();
        }
        tell(!pace->active);
        if (unconfirmed_.size() <= ahead) {
            co_return result<void>{};
        }
        if (auto alive = past_->stay_alive(); !alive) {
            co_return alive.error();
        }
        boost::asio::steady_timer timer(on_.loop, look_after);
        co_await timer.async_wait(boost::asio::use_awaitable);
        look_after = std::min<std::chrono::milliseconds>(2 * look_after, longest_look);
    }
}

awaitable<result<replay_outcome>> replay_writer::write_all() {
    for (;;) {
        const auto read = co_await past_->next();
        if (!read) {
            co_return read.error();
        }
        if (read->row) {
            take(*read->row);
        }
        if (batch_.size() >= batch_rows || batch_bytes_ >= batch_bytes || read->ended) {
            const auto goes_on = co_await flush();
            if (!goes_on) {
                co_return goes_on.error();
            }
            if (!*goes_on) {
                co_return replay_outcome::cancelled;
            }
        }
        if (read->ended) {
            co_return replay_outcome::done;
        }
    }
}

awaitable<result<replay_outcome>> replay_writer::run() {
    auto past = co_await kept_stream::open(on_, settings_, sql_, of_);
    if (!past) {
        co_return past.error();
    }
    past_ = std::move(*past);
    // What an earlier run has written is published before the replay is done.
    const auto pace = co_await postgres::read_replay_pace(sql_, of_.slot);
    if (!pace) {
        co_return pace.error();
    }
    if (of_.at) {
        unconfirmed_.push_back(pace->written);
    }
    const auto outcome = co_await write_all();
    if (!outcome || *outcome == replay_outcome::cancelled) {
        co_return outcome;
    }
    const auto published = co_await wait_for_slot(0);
    if (!published) {
        co_return published.error();
    }
    const auto ended =
        co_await postgres::end_replay(sql_, of_.number, postgres::replay_state::done);
    if (!ended) {
        co_return ended.error();
    }
    co_return *ended ? replay_outcome::done : replay_outcome::cancelled;
}

}  // namespace

awaitable<result<relay::replay_plan>> plan_replay(servers::executors on,
                                                  const config::settings& settings,
                                                  postgres::connection& sql,
                                                  postgres::kept_replay of, tell_progress tell) {
    relay::replay_plan plan;
    if (of.until <= of.from.commit) {
        co_return plan;
    }
    auto past = co_await kept_stream::open(std::move(on), settings, sql, std::move(of));
    if (!past) {
        co_return past.error();
    }
    constexpr std::uint64_t told_each = 10'000;
    for (;;) {
        const auto read = co_await (*past)->next();
        if (!read) {
            co_return read.error();
        }
        if (read->row) {
            plan.add(*read->row);
            if (plan.all.rows % told_each == 0) {
                tell({plan.all.rows, 0, false});
            }
        }
        if (read->ended) {
            co_return plan;
        }
    }
}

awaitable<result<replay_outcome>> carry_out_replay(servers::executors on,
                                                   const config::settings& settings,
                                                   postgres::connection& sql,
                                                   postgres::kept_replay of, tell_progress tell) {
    replay_writer writer(std::move(on), settings, sql, std::move(of), std::move(tell));
    co_return co_await writer.run();
}

}  // namespace walrelay::tasks
