// Hands one mail to the mail server over SMTP and tells what has become of it.
#pragma once

#include "consumer/settings.hpp"

#include <functional>
#include <string>

namespace memo {

enum class handover {
    accepted,  // the server has taken the mail
    refused,   // it has not, and never will of this try
    unsure,    // the connection ended, or time ran out, between the mail's last byte and the answer
};

struct handover_result {
    handover outcome = handover::refused;
    /// What went wrong, for people; with the server's own words where it said any.
    std::string error = {};
};

class mail_server {
public:
    /// `options` must outlive this.
    explicit mail_server(const settings& options) : options_(options) {}

    /// Calls `before_the_end` when all of `text` is out and only the mark of its end is not: until
    /// then the server cannot take the mail. If it returns false, the mark is not sent and the mail
    /// counts as refused.
    [[nodiscard]] handover_result send(const std::string& recipient, const std::string& text,
                                       const std::function<bool()>& before_the_end) const;

private:
    const settings& options_;
};

}  // namespace memo
