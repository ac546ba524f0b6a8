#include "app/rewound_stream.hpp"

#include "app/missing_list.hpp"
#include "core/progress.hpp"
#include "postgres/catalog/inspector.hpp"
#include "postgres/tables/witness_store.hpp"
#include "relay/checkpoint/evidence.hpp"
#include "servers/broker_side.hpp"
#include "servers/postgres_access.hpp"
#include "servers/provisioning.hpp"
#include "servers/stream_loss.hpp"

#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace walrelay::app {
namespace {

using boost::asio::awaitable;

awaitable<result<std::unique_ptr<nats::connection>>> broker_of(servers::executors on,
                                                               const config::settings& settings,
                                                               servers::missing_stream policy) {
    const nats::connection_events unheard{[](const nats::reply&) {}, [] {}, [] {},
                                          [](const error&) {}};
    co_return co_await servers::prepare_broker(on.loop, on.blocking, settings, 1, unheard, policy);
}

constexpr const char* how_to_fill_the_rest =
    "rewind to an earlier bookmark; or, where there is none: walrelay resume --heal, then walrelay "
    "run publishes what the tables have";

struct lost_stream {
    witness known;
    relay::stream_evidence seen;
};

/// A stream that lacks what was stored before, and is no other one; made where it is gone.
awaitable<result<std::optional<lost_stream>>> stream_that_lost(servers::executors on,
                                                               const config::settings& settings,
                                                               const witness& known,
                                                               stream_facts& facts) {
    using relay::stream_verdict;
    auto broker = co_await broker_of(on, settings, servers::missing_stream::leave);
    if (broker && !(*broker)->facts().stream) {
        broker = co_await broker_of(on, settings, servers::missing_stream::make_anew);
    }
    if (!broker) {
        co_return broker.error();
    }
    facts = *(*broker)->facts().stream;
    const auto seen = co_await servers::evidence_for(on, settings, known, facts);
    if (!seen) {
        co_return seen.error();
    }
    const auto verdict = relay::judge_stream(known, *seen);
    std::optional<lost_stream> lost;
    if (verdict == stream_verdict::ends_before || verdict == stream_verdict::overwritten) {
        lost = lost_stream{known, *seen};
    }
    co_return std::move(lost);
}

error reaches_not_back(const lost_stream& lost, const std::string& slot, lsn stands) {
    return {errc::gap_found,
            "slot " + slot + " stands at LSN " + to_string(stands) + " now, but " +
                relay::to_text(lost.known) + ", which ends with sequence " +
                std::to_string(lost.seen.last_sequence) +
                (lost.seen.last_where ? " (position " + to_string(*lost.seen.last_where) + ")"
                                      : std::string()) +
                ": whether the slot sends all rows that are missing is not known",
            how_to_fill_the_rest};
}

error began_nobody_knows_where(const std::string& slot, lsn stands) {
    return {errc::gap_found,
            "slot " + slot + " stands at LSN " + to_string(stands) +
                " now, and the stream is empty: which rows it had before is not known, as what was "
                "in the tables before the slot is not (it was made by hand, or by an earlier "
                "version)",
            "walrelay resume --give-up, then walrelay run publishes what the slot sends from "
            "there on; walrelay dead-letter list --given-up names the rows of the tables that it "
            "does not send"};
}

error rows_stay_missing(const missing_list& missing, const std::string& slot) {
    return {errc::gap_found,
            "slot " + slot + " is put back, but not far enough: " + short_text_of(missing),
            how_to_fill_the_rest};
}

/// Whether the slot, where it stands now, sends all that the stream has lost. What is after the
/// stream's end it sends where it stands before that; where the end does not tell, the tables do.
/// Rows between an end and the slot can be gone from the tables, which then tell nothing.
awaitable<result<void>> require_reach(servers::executors on, postgres::connection& sql,
                                      const config::settings& settings, const lost_stream& lost) {
    const auto slot = co_await servers::find_slot(on.loop, settings, sql);
    if (!slot) {
        co_return slot.error();
    }
    if (!slot->place.confirmed) {
        co_return result<void>{};  // begin_witness knows that case
    }
    const auto stands = *slot->place.confirmed;
    const auto& line = slot->server.line;
    const auto& ends = lost.seen.last_where;
    const bool was_cut =
        relay::judge_stream(lost.known, lost.seen) == relay::stream_verdict::ends_before;
    if (was_cut && relay::is_sent_again(lost.known, lost.seen, ends, stands, line)) {
        co_return result<void>{};
    }
    const bool is_empty = lost.seen.last_sequence == 0;
    const bool reaches_end = ends && line.shares(*ends) && ends->at.commit >= stands;
    if (!is_empty && !reaches_end) {
        co_return reaches_not_back(lost, settings.postgres.slot, stands);
    }
    const auto missing = co_await look_for_missing(on, settings, missing_scope::since_slot);
    if (!missing) {
        co_return missing.error();
    }
    if (missing->start_unknown) {
        // Nothing was compared: that nothing was found missing says nothing.
        co_return is_empty ? began_nobody_knows_where(settings.postgres.slot, stands)
                           : reaches_not_back(lost, settings.postgres.slot, stands);
    }
    if (missing->count > 0) {
        co_return rows_stay_missing(*missing, settings.postgres.slot);
    }
    co_return result<void>{};
}

}  // namespace

awaitable<result<void>> begin_with_what_is_there(servers::executors on, postgres::connection& sql,
                                                 const config::settings& settings) {
    auto slot = settings.postgres.slot;
    const auto known = co_await postgres::read_witness(sql, std::move(slot), 0);
    if (!known || !*known || (*known)->what.sequence == 0) {
        co_return known ? result<void>{} : known.error();
    }
    stream_facts stream;
    const auto lost = co_await stream_that_lost(on, settings, (*known)->what, stream);
    if (!lost || !*lost) {
        co_return lost ? result<void>{} : lost.error();
    }
    auto reaches = co_await require_reach(on, sql, settings, **lost);
    if (!reaches) {
        co_return reaches;
    }
    auto begun = co_await servers::begin_witness(on, sql, settings, stream);
    if (!begun) {
        co_return begun;
    }
    fmt::print(
        "stream {} begins anew with {}: what it had before is published again from this LSN on\n",
        settings.nats.stream, counted(stream.message_count, "message"));
    co_return result<void>{};
}

}  // namespace walrelay::app
