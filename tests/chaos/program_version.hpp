// Which version a server's program is, as it tells itself.
#pragma once

#include <filesystem>
#include <string>

namespace walrelay::chaos {

/// The first number in what `<program> --version` says, such as 2.10.27; empty if there is none.
[[nodiscard]] std::string version_of(const std::string& program);

/// The same of a folder of PostgreSQL's programs; empty stands for the usual one.
[[nodiscard]] std::string postgres_version_of(const std::filesystem::path& programs);

/// 15 of 15.20.
[[nodiscard]] int major_version(const std::string& version);

}  // namespace walrelay::chaos
