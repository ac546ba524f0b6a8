#include "tasks/drop/drop_work.hpp"

#include "nats/requests/stream_request.hpp"
#include "postgres/catalog/inspector.hpp"
#include "postgres/catalog/slot_acts.hpp"
#include "postgres/tables/kept_positions.hpp"
#include "postgres/tables/kept_slots.hpp"
#include "servers/broker_side.hpp"
#include "servers/postgres_access.hpp"
#include "servers/translate.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <cstdint>
#include <utility>

namespace walrelay::tasks {
namespace {

using boost::asio::awaitable;

awaitable<result<std::optional<stream_facts>>> look_at_stream(servers::executors on,
                                                              const config::settings& settings) {
    const nats::connection_events unheard{[](const nats::reply&) {}, [] {}, [] {},
                                          [](const error&) {}};
    const auto broker = co_await servers::prepare_broker(on.loop, on.blocking, settings, 1, unheard,
                                                         servers::missing_stream::leave);
    if (!broker) {
        co_return broker.error();
    }
    co_return (*broker)->facts().stream;
}

/// 0 where the role may neither ask in SQL nor replicate.
awaitable<result<std::uint64_t>> system_identifier_of(servers::executors on,
                                                      postgres::connection& sql,
                                                      const config::settings& settings) {
    const auto asked = co_await postgres::origin_of(sql);
    if (!asked || asked->system_identifier != 0) {
        co_return asked ? result<std::uint64_t>(asked->system_identifier) : asked.error();
    }
    auto replication = co_await servers::open_replication(on.loop, settings);
    if (!replication) {
        co_return 0;
    }
    const auto server = co_await postgres::identify(*replication);
    co_return server ? server->line.origin.system_identifier : 0;
}

awaitable<result<void>> remove(nats::connect_options to) {
    co_return nats::remove_stream(to);
}

awaitable<result<void>> delete_stream(servers::executors on, const config::settings& settings) {
    auto to = servers::nats_options_of(settings);
    auto removing = remove(std::move(to));
    auto done = co_await boost::asio::co_spawn(on.blocking, std::move(removing),
                                               boost::asio::use_awaitable);
    if (!done && done.error().remedy.empty()) {
        auto why = done.error();
        why.remedy = "as a user of the broker who may: nats stream rm " + settings.nats.stream;
        co_return why;
    }
    co_return done;
}

}  // namespace

awaitable<result<drop_sight>> look_before_drop(servers::executors on, postgres::connection& sql,
                                               const config::settings& settings,
                                               const drop_wish& wanted) {
    drop_sight seen;
    auto database = co_await postgres::look_at_removal(sql, wanted.slot, wanted.publication);
    if (!database) {
        co_return database.error();
    }
    seen.database = std::move(*database);
    auto kept = co_await postgres::read_kept_positions(sql, wanted.slot);
    if (!kept) {
        co_return kept.error();
    }
    seen.kept = std::move(*kept);
    if (wanted.with_stream) {
        auto stream = co_await look_at_stream(on, settings);
        if (!stream) {
            co_return stream.error();
        }
        seen.stream = std::move(*stream);
        const auto system = co_await system_identifier_of(on, sql, settings);
        if (!system) {
            co_return system.error();
        }
        seen.system_identifier = *system;
    }
    co_return std::move(seen);
}

awaitable<result<void>> drop_one(servers::executors on, postgres::connection& sql,
                                 const config::settings& settings, const drop_item& item) {
    auto name = item.name;
    auto tables = item.tables;
    switch (item.kind) {
        case drop_kind::slot:
            co_return co_await postgres::drop_slot(sql, std::move(name));
        case drop_kind::kept_position: {
            auto slot = settings.postgres.slot;
            co_return co_await postgres::drop_kept_slot(sql, std::move(name), std::move(slot));
        }
        case drop_kind::publication:
            co_return co_await postgres::drop_publication(sql, std::move(name));
        case drop_kind::stream:
            co_return co_await delete_stream(on, settings);
        case drop_kind::records: {
            auto slot = settings.postgres.slot;
            co_return co_await postgres::forget_slot(sql, std::move(slot), std::move(tables));
        }
        case drop_kind::schema:
            co_return co_await postgres::drop_own_schema(sql, std::move(tables));
    }
    co_return result<void>{};
}

}  // namespace walrelay::tasks
