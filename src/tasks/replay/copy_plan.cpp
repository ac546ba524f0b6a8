#include "tasks/replay/copy_plan.hpp"

#include "tasks/replay/kept_stream.hpp"
#include "tasks/replay/stream_target.hpp"

namespace walrelay::tasks {

using boost::asio::awaitable;

awaitable<result<copy_plan>> plan_copy(servers::executors on, const config::settings& settings,
                                       postgres::connection& sql, postgres::kept_replay of,
                                       std::string stream, tell_progress tell) {
    copy_plan made;
    if (of.until <= of.from.commit) {
        co_return made;
    }
    auto past = co_await kept_stream::open(on, settings, sql, of, relay::replayed_as::message);
    if (!past) {
        co_return past.error();
    }
    const auto target = target_of(settings, of, stream, (*past)->line(), (*past)->database());
    if (!target) {
        co_return target.error();
    }
    auto there = co_await look_at_target(on, *target, (*past)->line());
    if (!there) {
        co_return there.error();
    }
    made.there = *there;
    auto& plan = made.plan;
    plan.published_later = (*past)->published_later();
    const auto read = co_await read_to_the_end(**past, [&](const relay::replayed_row& row) {
        plan.add(row);
        made.rows_there += made.there && row.where.at <= made.there->last.at ? 1U : 0U;
        tell({plan.all.rows});
    });
    if (!read) {
        co_return read.error();
    }
    if (made.there && plan.first) {
        const auto joins = relay::joins_replayed(stream, *plan.first, *made.there);
        if (!joins) {
            co_return joins.error();
        }
    }
    co_return made;
}

}  // namespace walrelay::tasks
