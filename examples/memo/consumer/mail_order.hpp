// What a message of the stream asks for: one mail. Knows neither the broker nor the mail server.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace memo {

/// What arrived, as far as it matters here.
struct incoming {
    std::string message_id;  // Nats-Msg-Id
    std::string recipient;   // Recipient
    std::string body;
};

struct mail_order {
    std::string message_id;
    /// The row of email_outbox; empty where the body does not tell.
    std::string row_id;
    std::string recipient;
    std::string subject;
    std::string text;
    /// Why this can never be a mail; empty if it can.
    std::string defect;
};

/// Never fails: what cannot be read becomes an order with a defect.
[[nodiscard]] mail_order read_order(const incoming& message);

}  // namespace memo
