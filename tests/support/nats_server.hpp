// A real nats-server with JetStream, of the test's own: own port, own store.
#pragma once

#include "support/child_process.hpp"
#include "support/temporary_folder.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace walrelay::test {

struct nats_options {
    bool jetstream = true;
    /// Of JetStream's block in the configuration file, e.g. `limits { max_request_batch: 100 }`.
    std::string jetstream_settings = {};
    /// Lines for the server's configuration file, e.g. `max_payload: 8MB` or
    /// `authorization { user: relay, password: secret }`.
    std::vector<std::string> settings = {};
    /// With its path; empty: WALRELAY_TEST_NATS_SERVER, else `nats-server` from the PATH.
    std::string program = {};
};

/// Running once constructed. Throws std::runtime_error.
class nats_server {
public:
    explicit nats_server(const nats_options& options = {});
    ~nats_server();
    nats_server(const nats_server&) = delete;
    nats_server& operator=(const nats_server&) = delete;

    [[nodiscard]] std::uint16_t port() const { return port_; }
    [[nodiscard]] std::string url() const;
    [[nodiscard]] pid_t pid() const { return process_->pid(); }

    /// Asks it to stop and waits for it.
    void stop();
    /// Asks it to send its clients away first (lame duck mode), and waits for its end. Its
    /// configuration says how long that may take.
    void retire();
    void kill_9();
    /// Stopped in its tracks: connections stay open and nothing answers, until resume().
    void freeze();
    void resume();
    /// Same port, same store.
    void start();

    /// What a power failure at this moment would leave behind, if nothing after it reached the
    /// disk: stops the server in its tracks, copies its store, and lets it go on.
    void remember_store();
    /// Puts that copy in place of the store; the server must not be running.
    void restore_store();

    [[nodiscard]] const std::filesystem::path& folder() const { return folder_.path(); }
    [[nodiscard]] std::string log() const { return process_->standard_error(); }

private:
    void end_with(int signal);
    [[nodiscard]] bool answers() const;

    temporary_folder folder_;
    std::uint16_t port_;
    std::string program_;
    std::optional<child_process> process_;
};

}  // namespace walrelay::test
