// The order in which transactions were committed, as PostgreSQL itself tells it.
#pragma once

#include "support/postgres_server.hpp"

#include <string>
#include <vector>

namespace walrelay::test {

/// A slot of its own with the plugin test_decoding: knows nothing of walrelay and so cannot share
/// its mistakes. Sees what is committed after it was made, also across restarts of the server.
class commit_order {
public:
    commit_order(const postgres_server& server, const std::string& database);
    ~commit_order();
    commit_order(const commit_order&) = delete;
    commit_order& operator=(const commit_order&) = delete;

    /// The uuids in the column `id` of all rows inserted into `public.outbox_events` so far.
    [[nodiscard]] std::vector<std::string> ids();

private:
    std::string conninfo_;
    std::string slot_;
};

}  // namespace walrelay::test
