#include "tasks/replay/stream_share.hpp"

#include "servers/broker_side.hpp"

namespace walrelay::tasks {
namespace {

using boost::asio::awaitable;

/// The position of the message of this sequence, where it is walrelay's and of the same system.
awaitable<std::optional<commit_position>> place_of_message(servers::executors on,
                                                           const config::settings& settings,
                                                           std::uint64_t sequence,
                                                           std::uint64_t system) {
    const auto found = co_await servers::message_of_stream(on.blocking, settings, sequence);
    if (!found || !found->where || found->where->origin.system_identifier != system) {
        co_return std::nullopt;
    }
    co_return found->where->at;
}

}  // namespace

awaitable<std::optional<stream_share>> find_in_stream(servers::executors on,
                                                      const config::settings& settings,
                                                      position first, position last) {
    const auto seen = co_await servers::glance_at_stream(on.blocking, settings);
    if (!seen || !*seen || (*seen)->usage.messages == 0) {
        co_return std::nullopt;
    }
    const auto system = first.origin.system_identifier;
    const auto& usage = (*seen)->usage;
    auto low = usage.last_sequence - usage.messages + 1;
    auto high = usage.last_sequence + 1;
    const auto begins = co_await place_of_message(on, settings, low, system);
    if (!begins) {
        co_return std::nullopt;
    }
    // The first sequence whose message stands at the first row or after it.
    while (low < high) {
        const auto middle = low + (high - low) / 2;
        const auto place = co_await place_of_message(on, settings, middle, system);
        if (!place) {
            co_return std::nullopt;
        }
        if (*place < first.at) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    if (low > usage.last_sequence) {
        co_return std::nullopt;
    }
    const auto found = co_await place_of_message(on, settings, low, system);
    if (!found || *found > last.at) {
        co_return std::nullopt;
    }
    co_return stream_share{low, *found == first.at};
}

}  // namespace walrelay::tasks
