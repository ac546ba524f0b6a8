// Reads what PostgreSQL says of itself into core/facts.hpp. Judges nothing.
#pragma once

#include "core/error.hpp"
#include "core/facts.hpp"
#include "core/lineage.hpp"
#include "core/outbox_table.hpp"
#include "postgres/session/connection.hpp"

#include <boost/asio/awaitable.hpp>

#include <optional>
#include <string>
#include <vector>

namespace walrelay::postgres {

enum class replication_trial {
    /// Where the catalog does not show that the role may have such a connection.
    where_unknown,
    always,
    /// The relay that asks streams already.
    never,
};

struct inspection_request {
    std::string slot;
    std::string publication;
    /// The configured tables, in the order of the configuration.
    std::vector<table_name> tables;
    /// The same tables with what is to be written back, which is tried; empty if it is not to be.
    std::vector<outbox_table> write_backs = {};
    /// The tables for which it is tried to create the publication where it is missing, and the slot
    /// as well; empty if it is not to be tried.
    std::vector<table_name> to_publish = {};
    /// The session of the role that writes back, whose rights count for it; null: the one that
    /// asks. Of the same database, and open as long as the request.
    connection* writer = nullptr;
    /// How to open a replication connection, which is tried for a moment; nothing: the catalog
    /// alone counts.
    std::optional<connect_options> replication = {};
    replication_trial trial = replication_trial::where_unknown;
    /// Rows from before the slot are wanted: what it began with is asked for.
    bool takes_snapshot = false;
    /// Those for which `pending` is true: the condition is tried.
    bool takes_pending = false;
};

/// All facts through a connection of connection_kind::sql. Needs no right besides CONNECT, but:
/// `origin` is {0, 0} where the role may not call pg_control_system(), and `wal2json` is
/// plugin_trouble::none where it may neither see the setting nor try (see plugin_probe.hpp). The
/// origin that `identify` gives is to be preferred. Leaves the server as it was; it may make a
/// temporary slot for as long as it takes to try wal2json, at most about 2 seconds.
[[nodiscard]] boost::asio::awaitable<result<postgres_facts>> inspect(connection& sql,
                                                                     inspection_request request);

/// The same `origin` alone: {0, 0} where the role may not call pg_control_system().
[[nodiscard]] boost::asio::awaitable<result<history>> origin_of(connection& sql);

/// Which server this is and where its history came from, through a connection of
/// connection_kind::replication. Needs no right besides REPLICATION. The ancestors are empty where
/// the server no longer has its history file.
[[nodiscard]] boost::asio::awaitable<result<server_identity>> identify(connection& replication);

/// How far a standby has replayed, and then of which timeline that is; on a server that was
/// promoted since, how far it had come as a standby. As `identify`.
[[nodiscard]] boost::asio::awaitable<result<replay_place>> ask_replayed(connection& replication);

/// Where a slot stands, and how far the WAL has come.
struct slot_place {
    /// Nothing if there is no such slot.
    std::optional<lsn> confirmed;
    lsn wal_end;
};

/// Through a connection of connection_kind::sql. Stays true while the caller streams from the slot.
[[nodiscard]] boost::asio::awaitable<result<slot_place>> place_of_slot(connection& sql,
                                                                       std::string slot);

}  // namespace walrelay::postgres
