// A file that only its owner may read, as walrelay wants it of secrets.
#pragma once

#include <filesystem>
#include <string_view>

namespace walrelay::test {

/// Writes it anew. Throws std::runtime_error.
void write_secret(const std::filesystem::path& file, std::string_view content);

}  // namespace walrelay::test
