// TOML text becomes values. The one place that knows toml++.
#pragma once

#include "config/problem.hpp"
#include "config/value.hpp"

#include <boost/system/result.hpp>

#include <string>
#include <string_view>

namespace walrelay::config {

/// The top level of a TOML file; every value knows its `file_name:line`. A syntax error is one
/// problem, because what follows it cannot be read. Source of the syntax: toml.io, version 1.0.
[[nodiscard]] boost::system::result<value_table, problem> parse_document(
    std::string_view text, const std::string& file_name);

/// A variable's or flag's text that holds an inline table, `{ id = "event_id" }`. All of its values
/// carry `where`; the problem of a text that is something else has no key.
[[nodiscard]] boost::system::result<value, problem> parse_inline_table(std::string_view text,
                                                                       const std::string& where);

}  // namespace walrelay::config
