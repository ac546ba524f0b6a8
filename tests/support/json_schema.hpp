// Whether JSON is as a schema says. Knows the keywords that docs/schema uses, and refuses a schema
// with any other: type, enum, const, properties, required, additionalProperties, items, pattern,
// minimum, anyOf, $ref to #/$defs. Source: JSON Schema, draft 2020-12.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace walrelay::test {

/// What is wrong with `json`, each with its place (`/findings/0/code: ...`); empty where all is
/// well. Throws std::runtime_error where the schema cannot be read.
[[nodiscard]] std::vector<std::string> violations(std::string_view json, std::string_view schema);

/// The same, for a schema of docs/schema: `check` for check.schema.json.
[[nodiscard]] std::vector<std::string> violations_of(const std::string& name,
                                                     std::string_view json);

}  // namespace walrelay::test
