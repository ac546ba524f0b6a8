// A mail as it goes over the wire: RFC 5322, MIME. Knows no mail server.
#pragma once

#include "consumer/mail_order.hpp"

#include <ctime>
#include <string>
#include <string_view>

namespace memo {

/// The same for the same message, so that a mail server, or whoever searches its log, recognises a
/// mail: `<message id, with =XX for what is not a letter, a digit, '-' or '_'@domain of from>`.
[[nodiscard]] std::string message_id_header(std::string_view message_id, std::string_view from);

/// The whole mail, every line ended with CRLF. No text of the order can end a header.
[[nodiscard]] std::string mail_text(const mail_order& order, std::string_view from,
                                    std::time_t now);

}  // namespace memo
