#include "servers/stream_loss.hpp"

#include "relay/machine/stream_owner.hpp"
#include "servers/broker_side.hpp"

#include <utility>

namespace walrelay::servers {

boost::asio::awaitable<result<relay::stream_evidence>> evidence_for(
    executors on, const config::settings& settings, const witness& known,
    const stream_facts& stream) {
    auto seen = relay::evidence_of(stream, settings.nats.stream);
    // An empty database is any: a stream of another's mark is refused elsewhere.
    seen.late_rows =
        relay::late_rows_of(relay::own_mark(stream.description, settings.postgres.slot, {}));
    if (relay::judge_stream(known, seen) == relay::stream_verdict::ask) {
        auto asked = co_await message_of_stream(on.blocking, settings, known.sequence);
        if (!asked) {
            co_return asked.error();
        }
        seen.asked = std::move(*asked);
    }
    co_return std::move(seen);
}

}  // namespace walrelay::servers
