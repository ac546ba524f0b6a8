// How a column's type decides the form that its value takes in a message. Knows types by their oid
// alone, and nothing of tables and roles.
#pragma once

#include "core/change.hpp"

#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace walrelay::outbox {

/// Base types of domains, by the domain's oid (postgres_facts::domains).
using domain_types = std::vector<std::pair<type_oid, type_oid>>;

enum class type_kind : std::uint8_t {
    text,       // everything that is none of the others
    json,       // json, jsonb
    bytea,      //
    boolean,    //
    number,     // int2, int4, int8, numeric, float4, float8
    timestamp,  // timestamp, timestamptz
};

/// Types that somebody has made and that are no domains (postgres_facts::types).
using made_types = std::optional<std::vector<type_oid>>;

/// Whether it can be told what the type is: it is built in, or there. A text does not tell of which
/// type it is, so that a value of any other type has no certain form.
[[nodiscard]] bool is_known(type_oid type, const domain_types& domains, const made_types& made);

/// What a domain stands for; any other type itself.
[[nodiscard]] type_oid base_of(type_oid type, const domain_types& domains);

/// A domain counts as what it stands for.
[[nodiscard]] type_kind kind_of(type_oid type, const domain_types& domains);

/// The media type of a column's bytes when they are a body.
[[nodiscard]] std::string_view media_type_of(type_kind kind);

}  // namespace walrelay::outbox
