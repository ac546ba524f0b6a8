// One initdb for all the servers of a test program: a copy takes a tenth of the time.
#pragma once

#include "support/child_process.hpp"

#include <filesystem>
#include <optional>

namespace walrelay::test {

/// The account that servers run as: `postgres` for root, whom PostgreSQL refuses; nothing means
/// the test's own.
[[nodiscard]] std::optional<account> postgres_account();

/// Makes the servers' account own a folder and all that is in it.
void give_to_postgres(const std::filesystem::path& folder);

/// Copies a data folder freshly initialised by the initdb in `binaries` to `target`, which must not
/// exist yet. Throws std::runtime_error.
void copy_postgres_template(const std::filesystem::path& target,
                            const std::filesystem::path& binaries);

}  // namespace walrelay::test
