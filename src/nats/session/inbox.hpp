// The subjects that the broker's replies come to.
#pragma once

#include <cstddef>
#include <string>

namespace walrelay::nats {

/// So many letters and digits that nobody else can guess: 22 have 130 bits.
[[nodiscard]] std::string new_secret_word(std::size_t length = 22);

/// "<prefix>.<word>.", with 130 bits, for the answer to a question: who knew it could answer in the
/// broker's place.
[[nodiscard]] std::string new_inbox(const std::string& prefix);

/// The same for the replies to publishes of one connection. Shorter: it goes over the wire with
/// each publish and each reply, everybody who may read the stream's subjects sees it there anyway,
/// and a reply alone proves nothing (relay/confirm/stored_proof). Its 59 bits keep apart
/// connections, so that a late reply to an earlier one has nobody to come to.
[[nodiscard]] std::string new_reply_inbox(const std::string& prefix);

}  // namespace walrelay::nats
