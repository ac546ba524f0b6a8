// A new PostgreSQL cluster of the test's own, set up for logical replication.
#pragma once

#include "support/postgres_instance.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace walrelay::test {

/// Where the server programs are: WALRELAY_TEST_PG_BIN, else the newest /usr/lib/postgresql/*/bin.
/// Throws std::runtime_error if there are none.
[[nodiscard]] std::filesystem::path postgres_binary_folder();

struct postgres_options {
    /// Lines for postgresql.conf, after those of the test's own and so stronger than they are.
    std::vector<std::string> settings = {};
    /// Of another version; empty stands for postgres_binary_folder().
    std::filesystem::path binaries = {};
};

/// Running once constructed. As root it runs as the user postgres. The superuser is `postgres`, no
/// passwords are asked for. Throws std::runtime_error.
class postgres_server : public postgres_instance {
public:
    explicit postgres_server(const postgres_options& options = {});

    /// Restarts it as a standby of nobody. `without_slot` names one that the standby never had;
    /// empty: it has all.
    void become_standby(const std::string& without_slot = {});
    /// Ends that: it goes on on the next timeline.
    void promote();
    void begin_timeline(const std::string& without_slot = {}) {
        become_standby(without_slot);
        promote();
    }
};

}  // namespace walrelay::test
