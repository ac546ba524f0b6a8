// The keys of [[outbox]] that are tables themselves: columns, headers and republish.
#pragma once

#include "config/keys.hpp"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace walrelay::config {

/// Role and column name for each member; an unknown role is a problem of its own. `to` changes only
/// if nothing is wrong.
[[nodiscard]] std::vector<problem> store_columns(const key_description& about, const value& found,
                                                 outbox_columns& to);

/// Header name and template, in the order of the source. `to` changes only if nothing is wrong.
[[nodiscard]] std::vector<problem> store_headers(
    const key_description& about, const value& found,
    std::vector<std::pair<std::string, std::string>>& to);

/// `column` and `value`, both or none. `to` changes only if nothing is wrong.
[[nodiscard]] std::vector<problem> store_republish(const key_description& about, const value& found,
                                                   std::optional<republish_rule>& to);

}  // namespace walrelay::config
