// The subject that the broker's replies come to.
#pragma once

#include <cstdint>
#include <string>

namespace walrelay::nats {

/// "<prefix>.<word>.<epoch>.", with a word that nobody else can guess: who knew it could ack in the
/// broker's place.
[[nodiscard]] std::string new_inbox(const std::string& prefix, std::uint64_t epoch);

}  // namespace walrelay::nats
