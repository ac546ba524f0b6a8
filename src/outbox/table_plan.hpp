// What is known of a table's messages before a row of it was seen: the configuration's entry with
// its templates parsed and checked. Knows nothing of the columns that the table really has.
#pragma once

#include "core/error.hpp"
#include "core/outbox_table.hpp"
#include "outbox/text_template.hpp"

#include <string>
#include <vector>

namespace walrelay::outbox {

struct header_plan {
    std::string name;
    text_template value;
};

struct table_plan {
    table_name table;
    std::string message_prefix;
    outbox_columns columns;
    body_format body = body_format::event;
    bool keeps_tombstones = false;
    text_template subject;
    text_template message_id;
    std::vector<header_plan> headers;
    /// For CloudEvents: `/<schema>/<table>`, each a URI path segment (RFC 3986, section 3.3).
    std::string source;
    /// For CloudEvents, where no column says it: `<schema>.<table>`.
    std::string default_event_type;
};

/// Errors: configuration_invalid, naming the table and the setting.
[[nodiscard]] result<table_plan> make_plan(const outbox_table& table);

/// Whether two names of headers are the same but for case.
[[nodiscard]] bool is_same_header(std::string_view one, std::string_view other);

/// Whether the configuration sets the header itself.
[[nodiscard]] bool sets_header(const table_plan& plan, std::string_view name);

}  // namespace walrelay::outbox
