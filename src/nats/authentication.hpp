// Puts what proves who we are into nats.c's options. Files are read here; their contents never get
// into a message.
#pragma once

#include "core/error.hpp"
#include "nats/connect_options.hpp"
#include "nats/handles.hpp"

namespace walrelay::nats {

/// Errors: broker_unsuitable, naming the file that cannot be used.
[[nodiscard]] result<void> authenticate(natsOptions* into, const connect_options& from);

/// The public key of an NKey seed ("SU..."), as the server knows it ("U...").
/// Source: nats-io/nkeys, the text form: base32 of a prefix, the key and a CRC-16. Errors:
/// broker_unsuitable.
[[nodiscard]] result<std::string> nkey_public(std::string_view seed);

}  // namespace walrelay::nats
