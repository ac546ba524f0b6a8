// A pgbouncer in front of a server of PostgreSQL, which lets everybody in as postgres.
#pragma once

#include "support/child_process.hpp"
#include "support/free_port.hpp"
#include "support/temporary_folder.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace walrelay::test {

class pgbouncer {
public:
    /// Running once constructed. `mode`: its pool_mode; `size`: how many connections to the server
    /// it has, for each of which it lets a client wait for 2 s. Throws std::runtime_error.
    pgbouncer(std::uint16_t server_port, const std::string& mode, int size = 5);

    [[nodiscard]] std::uint16_t port() const { return port_; }

private:
    std::uint16_t port_ = free_port();
    temporary_folder folder_{"pgbouncer"};
    std::optional<child_process> process_;
};

}  // namespace walrelay::test
