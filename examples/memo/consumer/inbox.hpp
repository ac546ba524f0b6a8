// What is remembered of each message (inbox.sql), and the status of its row in email_outbox. Knows
// neither the broker nor the mail server.
#pragma once

#include "consumer/database.hpp"
#include "consumer/mail_order.hpp"

#include <string>

namespace memo {

/// Tries of one mail before it is given up.
inline constexpr int max_attempts = 5;

enum class claim {
    mine,      // send it
    busy,      // another consumer is at it
    early,     // its row's transaction has not come to its end for other sessions
    finished,  // it was sent, or given up, before
    unsure,    // an earlier try ended when the mail server may have had the mail already
    worn_out,  // the last of its tries ended without a word, in a crash perhaps
};

/// Every function that changes something is one transaction. Throws std::runtime_error.
class inbox {
public:
    explicit inbox(database& where);

    /// Keeps the message to this connection until release(), or until the connection ends. If it is
    /// `mine`, one more try is counted and the row is SENDING.
    [[nodiscard]] claim take(const mail_order& order);
    void release(const mail_order& order);

    /// From here on the mail server may have the mail.
    void hand_over(const mail_order& order);

    void finish_sent(const mail_order& order);
    void finish_failed(const mail_order& order, const std::string& error);
    /// The mail server does not have the mail. Returns whether there are tries left; if not, this
    /// finishes the message as failed.
    [[nodiscard]] bool note_failure(const mail_order& order, const std::string& error);

private:
    [[nodiscard]] bool has_row(const mail_order& order);
    [[nodiscard]] bool is_settled(const mail_order& order);
    [[nodiscard]] claim look(const mail_order& order);
    void finish(const mail_order& order, const std::string& outcome);
    /// Does nothing where there is no such row: a mail does not depend on it.
    void update_row(const mail_order& order, const std::string& set_list,
                    const std::string& value = {});

    database& where_;
};

}  // namespace memo
