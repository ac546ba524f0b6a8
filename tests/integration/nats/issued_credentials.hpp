// An operator, an account and a user of a NATS server, made for a test: what `nsc` would issue.
#pragma once

#include <string>

namespace walrelay::test {

struct issued_credentials {
    /// Lines of nats-server.conf that believe the operator and know the account.
    std::string server_settings;
    /// The user's credentials file.
    std::string file;
};

/// Throws std::runtime_error.
[[nodiscard]] issued_credentials issue_credentials();

}  // namespace walrelay::test
