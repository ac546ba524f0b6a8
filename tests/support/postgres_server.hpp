// A real PostgreSQL of the test's own: own data folder, own port, set up for logical replication.
#pragma once

#include "support/child_process.hpp"
#include "support/postgres_session.hpp"
#include "support/temporary_folder.hpp"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace walrelay::test {

/// Where the server programs are: WALRELAY_TEST_PG_BIN, else the newest /usr/lib/postgresql/*/bin.
/// Throws std::runtime_error if there are none.
[[nodiscard]] std::filesystem::path postgres_binary_folder();

struct postgres_options {
    /// Lines for postgresql.conf, after those of the test's own and so stronger than they are.
    std::vector<std::string> settings = {};
};

enum class postgres_stop { fast, immediate };

/// Running once constructed. As root it runs as the user postgres. The superuser is `postgres`, no
/// passwords are asked for. Throws std::runtime_error.
class postgres_server {
public:
    explicit postgres_server(const postgres_options& options = {});
    ~postgres_server();
    postgres_server(const postgres_server&) = delete;
    postgres_server& operator=(const postgres_server&) = delete;

    [[nodiscard]] std::uint16_t port() const { return port_; }
    /// Over TCP.
    [[nodiscard]] std::string conninfo(const std::string& database = "postgres") const;
    /// Over the Unix socket.
    [[nodiscard]] std::string socket_conninfo(const std::string& database = "postgres") const;
    [[nodiscard]] postgres_session session(const std::string& database = "postgres") const;

    /// Creates a database that nothing else uses and returns its name. `encoding` as CREATE
    /// DATABASE takes it; the locale is C.
    [[nodiscard]] std::string fresh_database(const std::string& encoding = "UTF8");

    /// Changes postgresql.conf and asks the server to read it again.
    void reconfigure(const std::string& line);

    /// Returns once the server has stopped; throws if that takes longer than `patience`.
    void stop(postgres_stop how, std::chrono::milliseconds patience = std::chrono::seconds(30));
    /// As if the machine had lost power, but for what the kernel still writes.
    void kill_9();
    /// Same port, same data.
    void start();

    [[nodiscard]] std::string log() const { return process_->standard_error(); }

private:
    [[nodiscard]] bool answers() const;
    void start_once();

    temporary_folder folder_;
    std::filesystem::path data_;
    std::uint16_t port_;
    int databases_ = 0;
    std::optional<child_process> process_;
};

}  // namespace walrelay::test
