// A JSON value under simdjson's cursor, read strictly to its end. The cursor alone checks only what
// it is asked for, and integers of more than 64 bits are numbers, too.
#pragma once

#include <simdjson.h>

#include <optional>
#include <string_view>

namespace walrelay::relay {

struct json_span {
    simdjson::ondemand::json_type type = simdjson::ondemand::json_type::null;
    /// Of a string its characters, of anything else the text as it stands.
    std::string_view text;
};

/// Nothing where the value is not JSON (RFC 8259) or is nested deeper than 512 levels. The views
/// live as long as the document.
[[nodiscard]] std::optional<json_span> take_json(simdjson::ondemand::value& value);

}  // namespace walrelay::relay
