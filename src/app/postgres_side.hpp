// Getting ready on PostgreSQL's side: connect, look, judge, make what is missing, start streaming.
#pragma once

#include "config/settings.hpp"
#include "core/error.hpp"
#include "core/facts.hpp"
#include "postgres/connection.hpp"
#include "postgres/replication_stream.hpp"
#include "relay/relay_machine.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include <optional>
#include <string>

namespace walrelay::app {

struct streaming_postgres {
    relay::postgres_session session;
    postgres::replication_stream stream;
    /// Idles beside the stream. Its end tells of a shutdown at once, also while a full window keeps
    /// the stream from being read.
    postgres::connection sentinel;
};

/// `earlier_run`: see relay::postgres_findings. Findings that forbid streaming are an error,
/// postgres_unsuitable.
[[nodiscard]] boost::asio::awaitable<result<streaming_postgres>> prepare_postgres(
    boost::asio::any_io_executor executor, const config::settings& settings,
    std::optional<std::string> earlier_run);

/// Makes publication and slot where they are missing. The plugin is the one the slot then has.
[[nodiscard]] boost::asio::awaitable<result<output_plugin>> provision(
    postgres::connection& sql, const config::settings& settings, const postgres_facts& facts);

/// A connection for queries.
[[nodiscard]] boost::asio::awaitable<result<postgres::connection>> open_sql(
    boost::asio::any_io_executor executor, const config::settings& settings);

}  // namespace walrelay::app
