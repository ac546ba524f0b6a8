// Getting ready on PostgreSQL's side: connect, look, judge, make what is missing, start streaming.
#pragma once

#include "config/settings.hpp"
#include "core/error.hpp"
#include "core/facts.hpp"
#include "core/watched_facts.hpp"
#include "postgres/session/connection.hpp"
#include "postgres/session/replication_stream.hpp"
#include "preflight/preflight.hpp"
#include "relay/driver/surroundings.hpp"
#include "relay/machine/postgres_session.hpp"
#include "relay/machine/stream_owner.hpp"
#include "servers/run_to_end.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include <memory>
#include <optional>

namespace walrelay::tasks {
class backfill_source;
}

namespace walrelay::servers {
class halt_gate;
}

namespace walrelay::app {

class facts_watch;

struct ready_postgres {
    relay::postgres_session session;
    /// One of these two: the rows where session.rows_first is set, else the stream.
    std::optional<postgres::replication_stream> stream;
    std::shared_ptr<tasks::backfill_source> rows;
    /// Idles beside them. Its end tells of a shutdown at once, also while a full window keeps
    /// the stream from being read.
    postgres::connection sentinel;
    /// Of the stream that they go into.
    relay::stream_owner owner = {};
    /// As it was when all of this was looked at first.
    watched_facts watched = {};
};

struct known_before : relay::known_before {
    /// See postgres::start_options.
    int earlier_process = 0;
    /// An operator has asked to heal, whatever the configuration says.
    bool heals = false;
    /// An operator has taken back a halt: the newest rows are looked for whatever is known.
    bool looks = false;
    /// That is all that shows whether rows are missing.
    bool newest_rows_decide = false;
};

/// Findings that forbid streaming are an error, postgres_unsuitable, or gap_found where `watch`
/// knows what has changed; a slot that is halted is one, too (halted).
[[nodiscard]] boost::asio::awaitable<result<ready_postgres>> prepare_postgres(
    servers::executors on, const config::settings& settings, known_before known,
    servers::halt_gate& gate, const facts_watch& watch);

}  // namespace walrelay::app
