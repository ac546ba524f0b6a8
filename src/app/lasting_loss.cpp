#include "app/lasting_loss.hpp"

#include "postgres/tables/slot_start.hpp"
#include "postgres/tables/witness_store.hpp"
#include "relay/checkpoint/evidence.hpp"
#include "servers/broker_side.hpp"
#include "servers/postgres_access.hpp"
#include "servers/stream_loss.hpp"

#include <string>
#include <utility>

namespace walrelay::app {
namespace {

using boost::asio::awaitable;
using relay::stream_verdict;

/// A slot that was told nothing yet sends all that it ever had to.
awaitable<bool> stands_at_its_beginning(postgres::connection& sql, std::string slot, lsn stands) {
    const auto start = co_await postgres::read_slot_start(sql, std::move(slot));
    if (!start || !*start) {
        co_return false;
    }
    co_return stands <= (*start)->consistent_point;
}

/// Nothing where the stream has it, or is no stream that has lost something but another one.
awaitable<std::optional<relay::stream_evidence>> seen_without(servers::executors on,
                                                              const config::settings& settings,
                                                              const witness& known) {
    std::optional<relay::stream_evidence> without;
    const auto broker = co_await servers::facts_of_broker(on.blocking, settings);
    if (!broker || !broker->stream) {
        co_return without;
    }
    auto seen = co_await servers::evidence_for(on, settings, known, *broker->stream);
    if (!seen) {
        co_return without;
    }
    const auto verdict = relay::judge_stream(known, *seen);
    if (verdict == stream_verdict::ends_before || verdict == stream_verdict::overwritten) {
        without = std::move(*seen);
    }
    co_return without;
}

}  // namespace

awaitable<std::optional<error>> lasting_loss(servers::executors on, postgres::connection& sql,
                                             const config::settings& settings) {
    const auto& slot = settings.postgres.slot;
    const auto there = co_await servers::find_slot(on.loop, settings, sql);
    if (!there || !there->place.confirmed) {
        co_return std::nullopt;
    }
    const auto stands = *there->place.confirmed;
    const auto& line = there->server.line;
    const auto kept = co_await postgres::read_witness(sql, slot, line.origin.system_identifier);
    if (!kept || !*kept || (*kept)->what.sequence == 0) {
        co_return std::nullopt;
    }
    const auto& known = (*kept)->what;
    const auto seen = co_await seen_without(on, settings, known);
    if (!seen) {
        co_return std::nullopt;
    }
    const auto verdict = relay::judge_stream(known, *seen);
    const bool is_sent_again = verdict == stream_verdict::ends_before &&
                               relay::is_sent_again(known, *seen, seen->last_where, stands, line);
    const auto begins = co_await stands_at_its_beginning(sql, slot, stands);
    if (is_sent_again || begins) {
        co_return std::nullopt;
    }
    co_return relay::stream_has_lost(known, *seen, verdict, slot);
}

}  // namespace walrelay::app
