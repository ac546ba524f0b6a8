// The rows of the table of keys, one function for each section.
#pragma once

#include "config/keys.hpp"

#include <string>
#include <utility>
#include <vector>

namespace walrelay::config {

[[nodiscard]] std::vector<key> postgres_keys();
[[nodiscard]] std::vector<key> nats_keys();
[[nodiscard]] std::vector<key> delivery_keys();
[[nodiscard]] std::vector<key> outbox_keys();
/// Of [[outbox]] too: what is done with the rows of a table.
[[nodiscard]] std::vector<key> outbox_row_keys();
[[nodiscard]] std::vector<key> http_keys();
[[nodiscard]] std::vector<key> log_keys();

/// The roles that `outbox.columns` knows, and where the column of each is kept.
using column_place = std::optional<std::string> outbox_columns::*;
[[nodiscard]] const std::vector<std::pair<std::string, column_place>>& column_roles();

}  // namespace walrelay::config
