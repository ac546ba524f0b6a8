#include "outbox/type_kind.hpp"

#include "core/type_oid.hpp"

#include <algorithm>

namespace walrelay::outbox {

bool is_known(type_oid type, const domain_types& domains, const made_types& made) {
    return type < oid::first_made || !made || std::ranges::binary_search(*made, type) ||
           std::ranges::find(domains, type, &domain_types::value_type::first) != domains.end();
}

type_oid base_of(type_oid type, const domain_types& domains) {
    // A domain can stand for another domain; the bound is for a list that goes in circles.
    for (std::size_t step = 0; step < domains.size(); ++step) {
        const auto found = std::find_if(domains.begin(), domains.end(),
                                        [type](const auto& each) { return each.first == type; });
        if (found == domains.end()) {
            break;
        }
        type = found->second;
    }
    return type;
}

type_kind kind_of(type_oid type, const domain_types& domains) {
    switch (base_of(type, domains)) {
        case oid::json:
        case oid::jsonb:
            return type_kind::json;
        case oid::bytea:
            return type_kind::bytea;
        case oid::boolean:
            return type_kind::boolean;
        case oid::int2:
        case oid::int4:
        case oid::int8:
        case oid::float4:
        case oid::float8:
        case oid::numeric:
            return type_kind::number;
        case oid::timestamp:
        case oid::timestamptz:
            return type_kind::timestamp;
        default:
            return type_kind::text;
    }
}

std::string_view media_type_of(type_kind kind) {
    switch (kind) {
        case type_kind::json:
            return "application/json";
        case type_kind::bytea:
            return "application/octet-stream";
        case type_kind::text:
        case type_kind::boolean:
        case type_kind::number:
        case type_kind::timestamp:
            break;
    }
    return "text/plain; charset=utf-8";
}

}  // namespace walrelay::outbox
