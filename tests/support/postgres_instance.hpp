// A PostgreSQL of the test's own on a folder of its own: started, stopped, killed, started again.
//
// Where its data comes from is said by those who derive from it: postgres_server makes a new
// cluster, postgres_standby copies a running one.
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

enum class postgres_stop { fast, immediate };

/// Everything here throws std::runtime_error.
class postgres_instance {
public:
    postgres_instance(const postgres_instance&) = delete;
    postgres_instance& operator=(const postgres_instance&) = delete;

    [[nodiscard]] std::uint16_t port() const { return port_; }
    /// Over TCP.
    [[nodiscard]] std::string conninfo(const std::string& database = "postgres") const;
    /// Over the Unix socket.
    [[nodiscard]] std::string socket_conninfo(const std::string& database = "postgres") const;
    [[nodiscard]] postgres_session session(const std::string& database = "postgres") const;

    /// Creates a database that nothing else uses and returns its name. `encoding` as CREATE
    /// DATABASE takes it; the locale is C.
    [[nodiscard]] std::string fresh_database(const std::string& encoding = "UTF8");

    /// Changes postgresql.conf and asks the server, if it runs, to read it again.
    void reconfigure(const std::string& line);

    /// Returns once the server has stopped; throws if that takes longer than `patience`.
    void stop(postgres_stop how, std::chrono::milliseconds patience = std::chrono::seconds(30));
    /// As if the machine had lost power, but for what the kernel still writes.
    void kill_9();
    /// Same port, same data.
    void start();

    /// Copies the data of the stopped server to `target`, which must not exist yet.
    void save_disk(const std::filesystem::path& target) const;
    /// Puts such a copy in the place of the stopped server's data; port and folder stay its own.
    void restore_disk(const std::filesystem::path& from);

    [[nodiscard]] std::string log() const { return process_->standard_error(); }

protected:
    /// Nothing runs yet: the data folder is to be filled, and `configure` called, before `start`.
    /// An empty `binaries` stands for postgres_binary_folder().
    postgres_instance(const char* name, std::filesystem::path binaries);
    ~postgres_instance();

    void configure(const std::vector<std::string>& lines);
    /// Whether the server is up only when it answers; a standby with hot_standby = off never does.
    void expect_queries(bool expected) { takes_queries_ = expected; }
    /// Runs a program of the same version, as the server's account; throws unless it exits with 0.
    void run_program(const std::string& program, std::vector<std::string> arguments) const;
    [[nodiscard]] const std::filesystem::path& binaries() const { return binaries_; }
    [[nodiscard]] const std::filesystem::path& data() const { return data_; }

private:
    [[nodiscard]] bool answers() const;
    void start_once();

    temporary_folder folder_;
    std::filesystem::path binaries_;
    std::filesystem::path data_;
    std::uint16_t port_;
    int databases_ = 0;
    bool takes_queries_ = true;
    std::optional<child_process> process_;
};

}  // namespace walrelay::test
