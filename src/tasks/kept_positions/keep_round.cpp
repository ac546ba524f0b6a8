#include "tasks/kept_positions/keep_round.hpp"

#include "config/read.hpp"
#include "log/log.hpp"
#include "postgres/session/commit_wait.hpp"
#include "postgres/tables/kept_positions.hpp"
#include "postgres/tables/kept_slots.hpp"
#include "postgres/tables/trail_marks.hpp"
#include "servers/postgres_access.hpp"
#include "servers/translate.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <utility>

namespace walrelay::tasks {

namespace asio = boost::asio;
using asio::awaitable;
using namespace std::chrono_literals;

keep_round::keep_round(asio::io_context& io, const config::settings& settings,
                       const keep_watch& watch, std::uint64_t system_identifier, int holder)
    : io_(io),
      settings_(settings),
      watch_(watch),
      system_(std::to_string(system_identifier)),
      holder_(holder),
      rules_{settings.replay.keep, settings.replay.max_wal},
      timer_(io) {}

std::string keep_round::trail_slot() const {
    return trail_slot_name(settings_.postgres.slot);
}

void keep_round::close() {
    closed_ = true;
    timer_.cancel();
    if (sql_) {
        sql_->close();
    }
}

awaitable<void> keep_round::run() {
    const auto self = shared_from_this();
    constexpr steady::duration after_trouble = 10s;
    // Until somebody makes one.
    constexpr steady::duration where_none_is = 30s;
    while (!closed_) {
        const auto looked = co_await look();
        if (closed_) {
            co_return;
        }
        steady::duration pause = relay::time_between_looks(rules_);
        if (looked) {
            is_well("look");
            failures_ = 0;
            pause = std::max(pause, rest_after_moving());
            pause =
                sight_ == kept_sight::none && !rules_.keep ? std::max(pause, where_none_is) : pause;
        } else {
            sql_.reset();
            watch_.saw(std::nullopt);
            tell(looked.error());
            pause = std::max(pause, after_trouble);
        }
        timer_.expires_after(pause);
        co_await timer_.async_wait(asio::as_tuple(asio::use_awaitable));
    }
}

/// Moving the trail reads WAL: that is all it does for a twentieth of the time, unless it would
/// fall behind by it.
keep_round::steady::duration keep_round::rest_after_moving() {
    constexpr int parts = 20;
    const auto wanted = std::exchange(moved_for_, {}) * parts;
    return rules_.keep ? std::min<steady::duration>(wanted, *rules_.keep / parts) : wanted;
}

keep_round::outcome<> keep_round::open() {
    if (sql_ && sql_->server_process() != 0) {
        co_return result<void>{};
    }
    sql_.reset();
    auto opened = co_await servers::open_sql(io_.get_executor(), settings_);
    if (!opened) {
        co_return opened.error();
    }
    if (closed_) {
        co_return error{errc::postgres_lost, "the slot is another relay's now"};
    }
    sql_.emplace(std::move(*opened));
    if (const auto waits = co_await postgres::wait_for_others(*sql_); !waits) {
        co_return waits.error();
    }
    if (rules_.keep) {
        auto outboxes = servers::published_tables_of(settings_);
        const auto made = co_await postgres::make_kept_tables(*sql_, std::move(outboxes));
        if (auto borne = bear(made, "no trail is kept"); !borne) {
            co_return borne;
        }
        if (made) {
            postgres::trail_owner owner{settings_.postgres.slot, system_};
            const auto marks = co_await postgres::read_trail_marks(*sql_, std::move(owner));
            if (!marks) {
                co_return marks.error();
            }
            marks_.clear();
            marks_.reserve(marks->size());
            for (const auto& [position, time] : *marks) {
                marks_.push_back({position, time});
            }
        }
    }
    co_return result<void>{};
}

keep_round::outcome<> keep_round::look() {
    auto sign = watch_.sign();
    const auto began = steady::now();
    if (none_kept_.still_holds(sign, began)) {
        watch_.saw(none_);
        co_return result<void>{};
    }
    none_kept_.forget();
    if (auto opened = co_await open(); !opened) {
        co_return opened;
    }
    auto held = co_await postgres::require_holder(*sql_, settings_.postgres.slot, holder_);
    if (!held) {
        co_return held;
    }
    auto found = co_await postgres::read_kept_positions(*sql_, settings_.postgres.slot);
    if (!found) {
        co_return found.error();
    }
    if (closed_) {
        co_return result<void>{};
    }
    const bool is_none = found->all.empty() && found->replays.empty();
    sight_ = is_none ? kept_sight::none : kept_sight::some;
    watch_.saw(*found);
    if (is_none && !rules_.keep) {
        none_kept_.was_made(std::move(sign), began);
        none_ = *found;
    }
    const auto plan = relay::plan_keeping(rules_, *found, marks_);
    tell(plan.trouble);
    co_return co_await carry_out(plan, *found);
}

/// Whatever the server refuses, the rest is still to be done.
result<void> keep_round::bear(const result<void>& step, const std::string& what) {
    if (step) {
        is_well(what);
        return {};
    }
    const auto advised = advice_for(step.error().code);
    const bool is_passing = step.error().code == errc::slot_in_use;
    if (!is_passing && (advised == advice::retry || advised == advice::reconnect)) {
        return step.error();
    }
    const auto text = what + ": " + to_string(step.error());
    if (is_news(what, text)) {
        log<"kept_positions_failed">(text, with<"error">(step.error().code));
    }
    return {};
}

keep_round::outcome<> keep_round::carry_out(const relay::keep_plan& plan,
                                            const kept_positions& found) {
    result<void> went_on;
    const auto goes_on = [&](const result<void>& step, const std::string& what) {
        went_on = closed_ ? result<void>(error{errc::postgres_lost, "the slot is given back"})
                          : bear(step, what);
        return went_on.has_value();
    };
    for (const auto& each : plan.drops) {
        const auto done = co_await drop(each);
        if (!goes_on(done, "slot " + each.what.slot + " cannot be dropped")) {
            co_return went_on;
        }
    }
    if (plan.mark) {
        const auto done = co_await make_mark(*plan.mark);
        if (!goes_on(done, "the place of the slot cannot be noted for the trail")) {
            co_return went_on;
        }
    }
    if (plan.make_trail) {
        const auto done = co_await make_trail();
        if (!goes_on(done, "no trail is kept")) {
            co_return went_on;
        }
    }
    const auto* const trail = find_trail(found);
    if (plan.move || plan.touch_trail) {
        const auto move = plan.move.value_or(relay::trail_move{*trail->confirmed});
        const auto done = co_await move_trail(move, *trail);
        if (!goes_on(done, "the trail cannot be moved")) {
            co_return went_on;
        }
    }
    if (!plan.to_fail_over.empty()) {
        const auto done = co_await let_fail_over(plan.to_fail_over);
        static_cast<void>(goes_on(done, "kept positions would not survive a failover"));
    }
    co_return went_on;
}

keep_round::outcome<> keep_round::drop(const relay::kept_drop& one) {
    auto slot = one.what.slot;
    auto of = settings_.postgres.slot;
    const auto done = co_await postgres::drop_kept_slot(*sql_, std::move(slot), std::move(of));
    if (done) {
        tell(one);
        watch_.dropped(one.what.kind, one.why);
    }
    co_return done;
}

keep_round::outcome<> keep_round::make_mark(lsn at) {
    postgres::trail_owner owner{settings_.postgres.slot, system_};
    const auto time = co_await postgres::add_trail_mark(*sql_, std::move(owner), at);
    if (!time) {
        co_return time.error();
    }
    const auto place = std::ranges::lower_bound(marks_, at, {}, &relay::trail_mark::position);
    if (place == marks_.end() || place->position != at) {
        marks_.insert(place, {at, *time});
    }
    co_return result<void>{};
}

keep_round::outcome<> keep_round::make_trail() {
    postgres::kept_slot_wish wanted;
    wanted.slot = settings_.postgres.slot;
    wanted.kept_slot = trail_slot();
    const auto made = co_await postgres::make_kept_slot(*sql_, std::move(wanted));
    if (!made) {
        co_return made.error();
    }
    log<"trail_made">("made slot " + trail_slot() + " at LSN " + to_string(*made) +
                          ": what is committed from now on can be replayed, " +
                          config::show(*rules_.keep) + " back",
                      with<"slot">(trail_slot()), with<"lsn">(*made));
    // The relay's slot has moved since it was looked at.
    const auto marked = co_await make_mark(*made);
    if (!marked) {
        co_return marked.error();
    }
    co_return co_await forget_marks(*made);
}

keep_round::outcome<> keep_round::forget_marks(lsn before) {
    std::erase_if(marks_, [&](const relay::trail_mark& each) { return each.position < before; });
    co_return co_await postgres::forget_trail_marks(*sql_, settings_.postgres.slot, before);
}

keep_round::outcome<> keep_round::move_trail(const relay::trail_move& move,
                                             const kept_position& trail) {
    const auto begun = steady::now();
    const auto moved = co_await postgres::move_kept_slot(*sql_, trail.slot, move.to);
    if (!moved) {
        co_return moved.error();
    }
    if (!move.early) {
        moved_for_ = steady::now() - begun;
    } else {
        watch_.moved_on(*move.early);
        tell(move, trail);
    }
    if (move.to == *trail.confirmed) {
        co_return result<void>{};
    }
    co_return co_await forget_marks(move.to);
}

keep_round::outcome<> keep_round::let_fail_over(const std::vector<std::string>& slots) {
    auto replication = co_await servers::open_replication(io_.get_executor(), settings_);
    if (!replication) {
        co_return replication.error();
    }
    for (const auto& each : slots) {
        const auto set = co_await postgres::let_kept_slot_fail_over(*replication, each);
        if (!set) {
            co_return set.error();
        }
    }
    co_return result<void>{};
}

}  // namespace walrelay::tasks
