// What an operator does about a pooler that takes no replication, in the words of every error that
// knows of one. Text only.
#pragma once

namespace walrelay {

inline constexpr const char* how_past_the_pooler =
    "connect past the pooler: name host and port of PostgreSQL itself in postgres.conninfo";

}  // namespace walrelay
