// Puts what proves who we are into nats.c's options.
#pragma once

#include "core/error.hpp"
#include "nats/connect_options.hpp"
#include "nats/handles.hpp"

namespace walrelay::nats {

/// Errors: broker_unsuitable, naming the file that cannot be used.
[[nodiscard]] result<void> authenticate(natsOptions* into, const connect_options& from);

}  // namespace walrelay::nats
