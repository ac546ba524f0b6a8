// What happens to one message, from the claim to the verdict for the broker. Holds the order of the
// steps, on which it depends that no mail is sent twice.
#pragma once

#include "consumer/inbox.hpp"
#include "consumer/mail_server.hpp"

namespace memo {

/// What the broker is told of a message.
enum class verdict {
    done,   // never deliver it again
    later,  // deliver it again after a while
};

class mail_desk {
public:
    /// All must outlive this.
    mail_desk(inbox& memory, const mail_server& server, const settings& options)
        : memory_(memory), server_(server), options_(options) {}

    /// Returns only after what it did is committed. Throws std::runtime_error where the database
    /// fails; the broker must then be told nothing.
    [[nodiscard]] verdict handle(const mail_order& order);

private:
    [[nodiscard]] verdict act(const mail_order& order, claim found);
    [[nodiscard]] verdict send(const mail_order& order);

    inbox& memory_;
    const mail_server& server_;
    const settings& options_;
};

}  // namespace memo
