// One statement on all that a relay's decisions rest on. Catalogs only: it reads no table, and
// waits for no lock that somebody has on one.
#pragma once

#include "core/error.hpp"
#include "core/watched_facts.hpp"
#include "postgres/session/connection.hpp"

#include <boost/asio/awaitable.hpp>

#include <string>
#include <vector>

namespace walrelay::postgres {

struct watched_objects {
    /// At least one.
    std::vector<table_name> tables;
    std::string publication;
    std::string slot;
};

/// `known` is what an earlier answer said, to learn what became of its tables; empty at first.
[[nodiscard]] boost::asio::awaitable<result<watched_facts>> read_watched_facts(connection& sql,
                                                                               watched_objects of,
                                                                               watched_facts known);

}  // namespace walrelay::postgres
