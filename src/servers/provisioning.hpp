// What walrelay makes in PostgreSQL: publication, slot, and what is kept of them.
#pragma once

#include "config/settings.hpp"
#include "core/error.hpp"
#include "core/facts.hpp"
#include "postgres/catalog/snapshot_slot.hpp"
#include "postgres/session/connection.hpp"
#include "servers/run_to_end.hpp"

#include <boost/asio/awaitable.hpp>

namespace walrelay::servers {

/// What it will be like: walrelay adds walrelay.control where it may.
[[nodiscard]] postgres_facts as_completed(postgres_facts facts);

/// Before a stream is made: whether PostgreSQL is as a first start needs it, so that nothing is
/// left there by one that is refused. Logs nothing unless it refuses.
[[nodiscard]] boost::asio::awaitable<result<void>> look_before_making(
    boost::asio::any_io_executor executor, const config::settings& settings);

/// Makes publication and slot where they are missing. The plugin is the one the slot then has.
[[nodiscard]] boost::asio::awaitable<result<output_plugin>> provision(
    executors on, postgres::connection& sql, const config::settings& settings,
    const postgres_facts& facts);

/// Keeps what a slot that was made with a snapshot begins with, outside of a transaction. The relay
/// goes on without it.
[[nodiscard]] boost::asio::awaitable<void> keep_start(postgres::connection& sql,
                                                      const config::settings& settings,
                                                      postgres::snapshot_slot made);

/// Makes walrelay.control, and with `may_alter` adds it to the publication, where they are missing
/// and the role may. Returns whether the facts are to be read again. What it may not do, the
/// preflight has words for.
[[nodiscard]] boost::asio::awaitable<bool> complete_control(postgres::connection& sql,
                                                            const config::settings& settings,
                                                            const postgres_facts& facts,
                                                            bool may_alter);

/// With walrelay.control, which is made first. Needs CREATE on the database and ownership of the
/// tables.
[[nodiscard]] boost::asio::awaitable<result<void>> make_publication(
    postgres::connection& sql, const config::settings& settings);

}  // namespace walrelay::servers
