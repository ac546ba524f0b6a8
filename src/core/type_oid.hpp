// The oids of those built-in types that something is done for. Source: PostgreSQL,
// src/include/catalog/pg_type.dat, where they are fixed.
#pragma once

#include "core/change.hpp"

namespace walrelay::oid {

/// Smaller ones are built in (FirstNormalObjectId, src/include/access/transam.h).
inline constexpr type_oid first_made = 16384;

inline constexpr type_oid boolean = 16;
inline constexpr type_oid bytea = 17;
inline constexpr type_oid int8 = 20;
inline constexpr type_oid int2 = 21;
inline constexpr type_oid int4 = 23;
inline constexpr type_oid text = 25;
inline constexpr type_oid json = 114;
inline constexpr type_oid float4 = 700;
inline constexpr type_oid float8 = 701;
inline constexpr type_oid varchar = 1043;
inline constexpr type_oid timestamp = 1114;
inline constexpr type_oid timestamptz = 1184;
inline constexpr type_oid numeric = 1700;
inline constexpr type_oid uuid = 2950;
inline constexpr type_oid jsonb = 3802;

}  // namespace walrelay::oid
