// The words for what keeps walrelay from the broker.
#pragma once

#include "core/error.hpp"
#include "nats/session/connect_options.hpp"

#include <string>
#include <string_view>

namespace walrelay::nats {

/// broker_unavailable: no server answers as one. `cause` is what the system or the library says.
[[nodiscard]] error unreachable(const connect_options& options, const std::string& cause);

/// broker_unavailable: this process has too little memory or too few threads.
[[nodiscard]] error lacks_resources(const std::string& cause);

/// broker_unavailable: the certificates may be fixed while walrelay waits.
[[nodiscard]] error without_tls(const connect_options& options, const std::string& cause);

/// broker_unavailable: the accounts may be changed while walrelay waits.
[[nodiscard]] error log_in_refused(const connect_options& options, std::string said);

/// Of the words of an -ERR that ends a log-in: one of these.
[[nodiscard]] error refusal(const connect_options& options, std::string_view said);
/// Whether the words of an -ERR tell of a right that is missing.
[[nodiscard]] bool is_about_a_right(std::string_view said);

/// Whether they tell of a line that is longer than max_control_line.
[[nodiscard]] bool is_about_a_line(std::string_view said);

/// broker_unsuitable: the server is set up for shorter lines than `what` takes.
[[nodiscard]] error line_too_long(const std::string& what, std::string said);

/// broker_unsuitable: the account lacks a right.
[[nodiscard]] error not_permitted(const connect_options& options, std::string said);

}  // namespace walrelay::nats
