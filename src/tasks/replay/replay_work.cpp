#include "tasks/replay/replay_work.hpp"

#include "core/progress.hpp"
#include "postgres/tables/replay_outcome.hpp"
#include "tasks/replay/kept_stream.hpp"
#include "tasks/replay/table_rows.hpp"
#include "tasks/replayed_rows.hpp"

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
/// So many may be written that the slot has not confirmed. It is told at most once a second what
/// was stored (walrelay.witness): fewer would be the pace of the replay. Where no relay reads, few:
/// what is written can be lost with the slot.
constexpr std::size_t batches_ahead = 40;
constexpr std::size_t batches_ahead_of_nobody = 2;
constexpr auto shortest_look = 1ms;
constexpr auto longest_look = 100ms;

error replay_is_gone(const postgres::kept_replay& of) {
    return {errc::postgres_unsuitable,
            "replay " + std::to_string(of.number) + " of slot " + of.slot +
                " is not in walrelay.replay any more",
            "walrelay replay list shows those that are"};
}

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
    /// As flush.
    awaitable<result<bool>> write_range();
    awaitable<result<bool>> write_rows_of_table();
    /// False where the replay does not run any more.
    awaitable<result<bool>> open_source();
    awaitable<result<bool>> learn_progress();
    /// Looks which of the rows that were written are published. If some are not, begins again;
    /// those that are published are left out then.
    awaitable<result<bool>> look_back();
    awaitable<result<replay_outcome>> finish();
    [[nodiscard]] error never_published() const;
    [[nodiscard]] bool is_published(const relay::replayed_row& row);
    /// False where the replay was cancelled.
    awaitable<result<bool>> flush();
    /// Until at most `ahead` batches are not confirmed.
    awaitable<result<void>> wait_for_slot(std::size_t ahead);
    void take(relay::replayed_row&& row);
    void tell(replay_wait waits_for) const {
        tell_({of_.rows_written, of_.rows_planned, waits_for, {}});
    }

    servers::executors on_;
    const config::settings& settings_;
    postgres::connection& sql_;
    postgres::kept_replay of_;
    tell_progress tell_;
    std::unique_ptr<kept_stream> past_;
    /// Where nothing is read from the past.
    std::optional<postgres::connection> held_;
    std::vector<postgres::replay_row> batch_;
    std::size_t batch_bytes_ = 0;
    /// Of what was written before; nothing where nothing was.
    std::optional<replayed_rows> published_;
    /// Dead letters without an id that were recognised by their rows.
    std::uint64_t unnamed_letters_ = 0;
    std::uint64_t again_ = 0;
    bool all_published_ = true;
    bool done_before_ = false;
    /// Where the WAL ended after each batch that the slot has not confirmed.
    std::deque<lsn> unconfirmed_;
};

bool replay_writer::is_published(const relay::replayed_row& row) {
    if (!published_) {
        return false;
    }
    const bool known = !of_.reads_table()
                           ? published_->has(row.where)
                           : row.content != nullptr && published_->has_id(row.content->id);
    if (known) {
        return true;
    }
    const bool is_letter = published_->take_event(row.event);
    unnamed_letters_ += is_letter ? 1U : 0U;
    return is_letter;
}

void replay_writer::take(relay::replayed_row&& row) {
    if (row.row.too_large_bytes > 0 || is_published(row)) {
        return;
    }
    if (of_.reads_table()) {
        batch_.push_back({{}, {}, row.source, std::move(row.event)});
    } else {
        batch_.push_back({row.where, row.committed_at, row.source, std::move(row.event)});
    }
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
    of_.at = last ? last : of_.at;
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
        tell(pace->active ? replay_wait::nothing : replay_wait::relay);
        const auto allowed = pace->active ? ahead : std::min(ahead, batches_ahead_of_nobody - 1);
        if (unconfirmed_.size() <= allowed) {
            co_return result<void>{};
        }
        if (auto alive = past_ ? past_->stay_alive() : result<void>{}; !alive) {
            co_return alive.error();
        }
        boost::asio::steady_timer timer(on_.loop, look_after);
        co_await timer.async_wait(boost::asio::use_awaitable);
        look_after = std::min<std::chrono::milliseconds>(2 * look_after, longest_look);
    }
}

awaitable<result<bool>> replay_writer::write_range() {
    for (;;) {
        auto read = co_await past_->next();
        if (!read) {
            co_return read.error();
        }
        if (read->row) {
            take(std::move(*read->row));
        }
        if (batch_.size() >= batch_rows || batch_bytes_ >= batch_bytes || read->ended) {
            const auto goes_on = co_await flush();
            if (!goes_on) {
                co_return goes_on.error();
            }
            if (!*goes_on) {
                co_return false;
            }
        }
        if (read->ended) {
            co_return true;
        }
    }
}

awaitable<result<bool>> replay_writer::write_rows_of_table() {
    auto rows = co_await table_rows::open(settings_, sql_, of_.tables.front());
    if (!rows) {
        co_return rows.error();
    }
    std::size_t at_once = 16;
    for (;;) {
        const auto ids = co_await postgres::read_replay_ids(sql_, of_.number, of_.taken, at_once);
        if (!ids) {
            co_return ids.error();
        }
        if (ids->empty()) {
            co_return true;
        }
        const auto count = ids->size();
        const auto read = co_await (*rows)->read(
            sql_, *ids, [this](relay::replayed_row&& row) { take(std::move(row)); });
        if (!read) {
            co_return read.error();
        }
        of_.taken += count;
        // How large rows are is known only when they are read.
        at_once = batch_bytes_ > batch_bytes / 2 ? std::max<std::size_t>(at_once / 2, 1)
                                                 : std::min(2 * at_once, batch_rows);
        const auto goes_on = co_await flush();
        if (!goes_on) {
            co_return goes_on.error();
        }
        if (!*goes_on) {
            co_return false;
        }
    }
}

/// Again for each time: what was read before is behind.
awaitable<result<bool>> replay_writer::open_source() {
    past_.reset();
    held_.reset();
    if (of_.reads_table()) {
        auto held = co_await hold_replay_slot(on_, settings_, of_.slot);
        if (!held) {
            co_return held.error();
        }
        held_.emplace(std::move(*held));
        co_return co_await learn_progress();
    }
    auto past = co_await kept_stream::open(on_, settings_, sql_, of_);
    if (!past) {
        co_return past.error();
    }
    past_ = std::move(*past);
    co_return co_await learn_progress();
}

/// What was read before the temporary slot was there is what another session may have gone on from.
awaitable<result<bool>> replay_writer::learn_progress() {
    auto now = co_await postgres::find_replay(sql_, of_.slot, of_.number);
    if (!now) {
        co_return now.error();
    }
    if (!*now) {
        co_return replay_is_gone(of_);
    }
    of_.state = (*now)->state;
    of_.at = (*now)->at;
    of_.taken = (*now)->taken;
    of_.rows_written = (*now)->rows_written;
    done_before_ = of_.state == postgres::replay_state::done;
    co_return of_.state == postgres::replay_state::running;
}

awaitable<result<bool>> replay_writer::look_back() {
    auto found = co_await find_replayed_rows(on_, settings_, sql_, of_);
    if (!found) {
        co_return found.error();
    }
    published_.emplace(std::move(*found));
    const auto known = published_->count();
    const auto missing = of_.rows_written - std::min(of_.rows_written, known);
    all_published_ = missing <= published_->removed() + published_->letters_without_row();
    if (all_published_) {
        co_return true;
    }
    if (published_->removed() > 0) {
        // Which of them were published cannot be told.
        co_return never_published();
    }
    const auto restarted = co_await postgres::restart_replay(sql_, of_.number, known);
    if (!restarted || !*restarted) {
        co_return restarted;
    }
    unnamed_letters_ = 0;
    again_ += missing;
    of_.rows_written = known;
    of_.at.reset();
    of_.taken = 0;
    co_return co_await open_source();
}

error replay_writer::never_published() const {
    const auto lost = of_.rows_written - std::min(of_.rows_written, published_->count());
    return {errc::postgres_unsuitable,
            counted(lost, "row") + " of replay " + std::to_string(of_.number) +
                " were written for the relay, and are in neither the stream nor the dead letters",
            "walrelay status shows whether slot " + of_.slot +
                " was lost or moved meanwhile; once its relay streams"};
}

awaitable<result<replay_outcome>> replay_writer::finish() {
    const auto known = published_->count();
    const auto ended = co_await postgres::finish_replay(sql_, of_.number, known + unnamed_letters_);
    if (!ended) {
        co_return ended.error();
    }
    replay_outcome outcome;
    outcome.cancelled = !*ended;
    outcome.untold = of_.rows_written - std::min(of_.rows_written, known);
    outcome.published = known + unnamed_letters_ + outcome.untold;
    outcome.dead_letters = published_->named_letters() + unnamed_letters_;
    if (of_.reads_table()) {
        outcome.gone = of_.rows_planned - std::min(of_.rows_planned, outcome.published);
    }
    outcome.again = again_ - std::min(again_, unnamed_letters_);
    co_return outcome;
}

awaitable<result<replay_outcome>> replay_writer::run() {
    constexpr int rounds_max = 5;
    auto going = co_await open_source();
    if (going && *going && of_.rows_written > 0) {
        // What an earlier run has written: is it published, too?
        const auto pace = co_await postgres::read_replay_pace(sql_, of_.slot);
        if (!pace) {
            co_return pace.error();
        }
        unconfirmed_.push_back(pace->written);
        const auto waited = co_await wait_for_slot(0);
        if (!waited) {
            co_return waited.error();
        }
        going = co_await look_back();
    }
    for (int round = 0; going && *going && round < rounds_max; ++round) {
        auto writing = of_.reads_table() ? write_rows_of_table() : write_range();
        going = co_await std::move(writing);
        if (!going || !*going) {
            break;
        }
        const auto read = co_await wait_for_slot(0);
        if (!read) {
            co_return read.error();
        }
        going = co_await look_back();
        if (!going || !*going) {
            break;
        }
        if (all_published_) {
            co_return co_await finish();
        }
    }
    if (!going) {
        co_return going.error();
    }
    if (!*going) {
        replay_outcome ended;
        (done_before_ ? ended.done_before : ended.cancelled) = true;
        co_return ended;
    }
    co_return never_published();
}

}  // namespace

awaitable<result<relay::replay_plan>> plan_rows_of_table(const config::settings& settings,
                                                         postgres::connection& sql,
                                                         postgres::kept_replay of) {
    relay::replay_plan plan;
    auto rows = co_await table_rows::open(settings, sql, of.tables.front());
    if (!rows) {
        co_return rows.error();
    }
    for (std::size_t begin = 0; begin < of.ids.size(); begin += batch_rows) {
        const auto first = of.ids.begin() + static_cast<std::ptrdiff_t>(begin);
        const auto count = std::min(batch_rows, of.ids.size() - begin);
        std::vector<std::string> ids(first, first + static_cast<std::ptrdiff_t>(count));
        const auto read = co_await (*rows)->read(
            sql, std::move(ids), [&plan](relay::replayed_row&& row) { plan.add(row); });
        if (!read) {
            co_return read.error();
        }
    }
    plan.transactions = 0;
    co_return plan;
}

awaitable<result<relay::replay_plan>> plan_replay(servers::executors on,
                                                  const config::settings& settings,
                                                  postgres::connection& sql,
                                                  postgres::kept_replay of, tell_progress tell) {
    if (of.reads_table()) {
        co_return co_await plan_rows_of_table(settings, sql, std::move(of));
    }
    relay::replay_plan plan;
    if (of.until <= of.from.commit) {
        co_return plan;
    }
    auto past = co_await kept_stream::open(std::move(on), settings, sql, std::move(of));
    if (!past) {
        co_return past.error();
    }
    plan.published_later = (*past)->published_later();
    const auto read = co_await read_to_the_end(**past, [&](const relay::replayed_row& row) {
        plan.add(row);
        tell({plan.all.rows});
    });
    if (!read) {
        co_return read.error();
    }
    co_return plan;
}

awaitable<result<replay_outcome>> carry_out_replay(servers::executors on,
                                                   const config::settings& settings,
                                                   postgres::connection& sql,
                                                   postgres::kept_replay of, tell_progress tell) {
    replay_writer writer(std::move(on), settings, sql, std::move(of), std::move(tell));
    co_return co_await writer.run();
}

}  // namespace walrelay::tasks
