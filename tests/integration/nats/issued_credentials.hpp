// An operator, an account and a user of a NATS server, made for a test: what `nsc` would issue.
#pragma once

#include <chrono>
#include <optional>
#include <string>

namespace walrelay::test {

struct issued_credentials {
    /// Lines of nats-server.conf that believe the operator and know the account.
    std::string server_settings;
    /// The user's credentials file.
    std::string file;
    /// That of another user of the same account, without an end.
    std::string next_file;
};

/// The server ends connections of a user whose time is over. Throws std::runtime_error.
/// `jetstream`: more of the account's limits, as a claim has them, e.g. `"disk_storage":-1`.
[[nodiscard]] issued_credentials issue_credentials(
    std::optional<std::chrono::system_clock::time_point> user_expires = {},
    const std::string& jetstream = "");

}  // namespace walrelay::test
