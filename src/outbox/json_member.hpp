// One member of a JSON object in a column, as `->>` of SQL gives it.
#pragma once

#include "core/change.hpp"

#include <simdjson.h>

#include <string>
#include <string_view>

namespace walrelay::outbox {

/// Keeps the memory of its parser from row to row.
class json_member_reader {
public:
    /// A string without quotes and escapes, anything else as it is written; of two of one name the
    /// last, as in jsonb. Nothing for null, where there is none of that name, and where `json` is
    /// no object: a header is not worth a lost event. The view lives until the next call.
    [[nodiscard]] field read(std::string_view json, std::string_view key);

private:
    simdjson::ondemand::parser parser_;
    std::string padded_;
    std::string found_;
};

}  // namespace walrelay::outbox
