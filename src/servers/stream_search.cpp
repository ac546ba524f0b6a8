#include "servers/stream_search.hpp"

#include "postgres/tables/replay_outcome.hpp"
#include "servers/translate.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <utility>

namespace walrelay::servers {
namespace {

namespace asio = boost::asio;
using asio::awaitable;

awaitable<result<searched_part>> search(nats::connect_options to, search_from from,
                                        std::function<void(const nats::scanned_message&)> visit) {
    auto stream = nats::stream_scan::open(std::move(to));
    if (!stream) {
        co_return stream.error();
    }
    const auto end = stream->facts().last_sequence;
    const bool is_another = end < from.after || (from.seen && stream->facts().created > *from.seen);
    const auto begin = is_another ? 0 : from.after;
    stream->begin_at(begin + 1);
    searched_part part;
    part.created = stream->facts().created;
    part.last_sequence = end;
    auto last = begin;
    const auto read = stream->read([&](const nats::scanned_message& one) -> result<void> {
        ++part.messages;
        last = one.sequence;
        visit(one);
        return {};
    });
    if (!read) {
        co_return read.error();
    }
    part.removed = std::max(last, end) - begin - part.messages;
    co_return part;
}

}  // namespace

awaitable<result<bool>> slot_has_read_all(executors on, postgres::connection& sql, std::string slot,
                                          std::chrono::milliseconds patience) {
    constexpr std::chrono::milliseconds pause{50};
    // A relay that has just started, or healed, connects once more before it reads.
    constexpr std::chrono::milliseconds without_a_reader{2000};
    std::optional<lsn> end;
    std::chrono::milliseconds unread{0};
    for (std::chrono::milliseconds waited{0};; waited += pause) {
        const auto pace = co_await postgres::read_replay_pace(sql, slot);
        if (!pace) {
            co_return pace.error();
        }
        end = end ? end : pace->written;
        if (!pace->confirmed) {
            co_return false;
        }
        if (*pace->confirmed >= *end) {
            co_return true;
        }
        unread = pace->active ? std::chrono::milliseconds(0) : unread + pause;
        if (unread > without_a_reader || waited >= patience) {
            co_return false;
        }
        asio::steady_timer timer(on.loop, pause);
        co_await timer.async_wait(asio::use_awaitable);
    }
}

awaitable<result<searched_part>> search_stream(
    executors on, const config::settings& settings, search_from from,
    std::function<void(const nats::scanned_message&)> visit) {
    auto to = nats_options_of(settings);
    auto searching = search(std::move(to), from, std::move(visit));
    co_return co_await asio::co_spawn(on.blocking, std::move(searching), asio::use_awaitable);
}

}  // namespace walrelay::servers
