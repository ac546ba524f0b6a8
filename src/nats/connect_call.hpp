// What every connection to the broker has in common: its options, and the words when it fails. Only
// for the .cpp files of this folder.
#pragma once

#include "core/error.hpp"
#include "nats/connect_options.hpp"
#include "nats/handles.hpp"

#include <string>

namespace walrelay::nats {

/// Errors: broker_unsuitable, naming the key that cannot be used.
[[nodiscard]] result<options_handle> prepare_connect(const connect_options& from);

[[nodiscard]] error connect_failure(natsStatus status, const connect_options& options);

/// broker_unavailable with the library's words.
[[nodiscard]] error unavailable(std::string what, natsStatus status);

}  // namespace walrelay::nats
