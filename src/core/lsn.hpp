// A position in PostgreSQL's write-ahead log.
//
// A strong type, so that an LSN is never mixed up with a count or a sequence number. Source of the
// text form: PostgreSQL documentation, "pg_lsn Type".
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace walrelay {

/// A byte address in the WAL. 0 is invalid: PostgreSQL never hands it out for a record.
struct lsn {
    std::uint64_t value = 0;

    friend constexpr auto operator<=>(lsn, lsn) = default;
};

/// PostgreSQL's own text form, "16/B374D848".
[[nodiscard]] std::string to_string(lsn position);

/// Reads PostgreSQL's text form; nothing if it is anything else.
[[nodiscard]] std::optional<lsn> parse_lsn(std::string_view text);

}  // namespace walrelay
