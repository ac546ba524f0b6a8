// Where temporary files go.
#pragma once

#include "core/error.hpp"

#include <filesystem>

namespace walrelay::tasks {

/// TMPDIR, or what the system has in its place. Errors: temporary_file.
[[nodiscard]] result<std::filesystem::path> temporary_place();

}  // namespace walrelay::tasks
