// A configuration file that holds a password and that everybody may read.
#pragma once

#include "config/settings.hpp"

#include <optional>
#include <string>

namespace walrelay::app {

/// The key whose value, as it stands in the file, holds a password or a token, where every user of
/// this machine can read the file; nothing otherwise.
[[nodiscard]] std::optional<std::string> exposed_secret(const std::string& file_name,
                                                        const std::string& file_text,
                                                        const config::settings& settings);

}  // namespace walrelay::app
