// What walrelay makes in PostgreSQL: publication, slot, and what is kept of them.
#pragma once

#include "config/settings.hpp"
#include "core/error.hpp"
#include "core/facts.hpp"
#include "postgres/catalog/snapshot_slot.hpp"
#include "postgres/session/connection.hpp"
#include "preflight/preflight.hpp"
#include "servers/run_to_end.hpp"

#include <boost/asio/awaitable.hpp>

#include <optional>
#include <string>
#include <vector>

namespace walrelay::servers {

/// What it will be like: walrelay adds walrelay.control where it may.
[[nodiscard]] postgres_facts as_completed(postgres_facts facts);

/// Before a stream is made: whether PostgreSQL is as a first start needs it, so that nothing is
/// left there by one that is refused. Logs nothing unless it refuses.
[[nodiscard]] boost::asio::awaitable<result<void>> look_before_making(
    boost::asio::any_io_executor executor, const config::settings& settings, bool is_new_beginning);

/// Those that the slot may still send; none where nothing becomes one, or where there is no table
/// yet. Errors: also of a role that may not read it, with which no relay starts.
[[nodiscard]] boost::asio::awaitable<result<std::vector<position>>> read_dead_letters(
    postgres::connection& sql, const config::settings& settings, const postgres_facts& facts);

/// Makes publication and slot where they are missing. The plugin is the one the slot then has.
[[nodiscard]] boost::asio::awaitable<result<output_plugin>> provision(
    executors on, postgres::connection& sql, const config::settings& settings,
    const postgres_facts& facts);

/// Keeps what a slot that was made with a snapshot begins with, outside of a transaction. The relay
/// goes on without it. `published` as in postgres/slot_start.
[[nodiscard]] boost::asio::awaitable<void> keep_start(postgres::connection& sql,
                                                      const config::settings& settings,
                                                      postgres::snapshot_slot made,
                                                      std::string published);

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

/// How it is known that there was a run: what the stream has shown, or, where the slot is missing,
/// what the database keeps. A stream can have been emptied, and the slot be gone before the first
/// row came. Errors: that cannot be read now; a role that may never read it knows of none.
[[nodiscard]] boost::asio::awaitable<result<std::optional<preflight::earlier_run>>> known_run(
    postgres::connection& sql, const config::settings& settings, const postgres_facts& facts,
    std::optional<preflight::earlier_run> of_stream);

/// Commits the witness of a slot or a stream that was made just now, or that an operator calls a
/// new beginning: what the stream holds is stored, and the slot was told what is before it. Errors:
/// where that cannot be kept, or somebody else changed it meanwhile.
[[nodiscard]] boost::asio::awaitable<result<void>> begin_witness(executors on,
                                                                 postgres::connection& sql,
                                                                 const config::settings& settings,
                                                                 const stream_facts& stream);

}  // namespace walrelay::servers
