// The subject that the broker's replies come to.
#pragma once

#include <cstdint>
#include <string>

namespace walrelay::nats {

/// 22 letters and digits (130 bits) that nobody else can guess.
[[nodiscard]] std::string new_secret_word();

/// "<prefix>.<word>.<epoch>.", with such a word: who knew it could ack in the broker's place.
[[nodiscard]] std::string new_inbox(const std::string& prefix, std::uint64_t epoch);

}  // namespace walrelay::nats
