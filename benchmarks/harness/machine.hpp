// Where and with what a run was made: a figure means nothing without it.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace walrelay::bench {

/// Names and values, in the order in which they are shown. Of a fact that cannot be found the
/// value says so.
using facts = std::vector<std::pair<std::string, std::string>>;

/// What a nats-server says of itself, without its name: "2.9.10". Empty: the installed one.
[[nodiscard]] std::string version_of_nats(const std::string& program);

/// `walrelay` is the program; `source` the folder of its source code.
[[nodiscard]] facts machine_and_versions(const std::filesystem::path& walrelay,
                                         const std::filesystem::path& source);

}  // namespace walrelay::bench
