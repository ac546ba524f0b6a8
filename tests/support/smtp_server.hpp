// A mail server of the test's own: takes every mail, keeps it, delivers none.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace walrelay::test {

struct received_mail {
    std::string sender;
    std::vector<std::string> recipients;
    /// Headers and body as they came, lines ended with CRLF.
    std::string text;

    /// The value of a header on one line, with folded lines put together; empty if there is none.
    [[nodiscard]] std::string header(const std::string& name) const;
};

/// Running once constructed; everything happens in a thread of its own.
class smtp_server {
public:
    /// Before which of its replies the server can be made to pause.
    enum class pause { none, before_the_mail, after_the_mail };

    smtp_server();
    ~smtp_server();
    smtp_server(const smtp_server&) = delete;
    smtp_server& operator=(const smtp_server&) = delete;

    /// As libcurl takes it.
    [[nodiscard]] std::string url() const;
    /// Everything it has taken, in this order. A mail is taken when its last byte is there, also
    /// where the reply is held back.
    [[nodiscard]] std::vector<received_mail> mails() const;
    [[nodiscard]] std::size_t mail_count() const;
    /// Conversations that were begun.
    [[nodiscard]] std::size_t conversations() const;

    /// The next `count` mails get this reply, e.g. `451 later`, and are not taken.
    void refuse(int count, const std::string& reply);
    /// Keeps all who come to this point waiting, until `pause::none`.
    void hold(pause where);
    /// False if nobody waits at that point after `patience`.
    [[nodiscard]] bool someone_waits(std::chrono::milliseconds patience) const;

private:
    struct state;
    std::unique_ptr<state> state_;
};

}  // namespace walrelay::test
