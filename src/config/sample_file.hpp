// A commented walrelay.toml, made from the table of keys.
#pragma once

#include "config/keys.hpp"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace walrelay::config {

/// What is known beside the defaults. Values are by full name, in the notation of the file.
struct sample {
    /// Lines that count.
    std::map<std::string, std::string> set = {};
    /// Lines that are commented out, in place of the default.
    std::map<std::string, std::string> proposed = {};
    /// What is to be said at the head of [[outbox]], one comment each.
    std::vector<std::string> notes = {};
};

/// Every key with its sentence and its default, commented out, but for what is set. What cannot be
/// left out comes first in its section.
[[nodiscard]] std::string sample_file(const sample& of);

/// A TOML string.
[[nodiscard]] std::string toml_text(std::string_view text);

/// What a flag says, as the file says it.
[[nodiscard]] std::string file_notation(const key& row, const std::string& flag_text);

}  // namespace walrelay::config
