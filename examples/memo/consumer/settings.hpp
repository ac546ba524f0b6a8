// What the consumer is told when it is started, with its defaults.
#pragma once

#include <chrono>
#include <optional>
#include <string>

namespace memo {

struct settings {
    std::string postgres = "host=127.0.0.1 dbname=memo";
    std::string nats = "nats://127.0.0.1:4222";
    std::string stream = "MEMO";
    /// Which of its messages.
    std::string subject = "email.>";
    /// The durable consumer of the stream: processes of the same name share the work.
    std::string consumer = "mailer";
    /// As libcurl takes it: smtp:// or smtps://, with user and password where the server asks.
    std::string smtp = "smtp://127.0.0.1:25";
    std::string from = "memos@example.org";
    /// The mail server's time for one mail.
    std::chrono::milliseconds smtp_timeout{std::chrono::seconds(30)};
    /// When a message without an ack comes again; longer than `smtp_timeout`.
    std::chrono::milliseconds ack_wait{std::chrono::seconds(120)};
    /// Between two tries of one mail.
    std::chrono::milliseconds retry_delay{std::chrono::seconds(30)};
};

/// Reads the command line. Where there is nothing to run (a mistake, --help), the exit code is in
/// `exit_code` and what there is to say has been said.
[[nodiscard]] std::optional<settings> read_settings(int argc, char** argv, int& exit_code);

}  // namespace memo
