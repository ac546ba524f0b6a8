#include "postgres/session/refusal.hpp"

#include "postgres/session/sqlstate.hpp"

#include <algorithm>
#include <array>

namespace walrelay::postgres {
namespace {

/// A class of errors, or one of its codes, which then comes before its class.
struct rule {
    std::string_view code;
    outlook what;
};

constexpr std::array<rule, 32> rules = {{
    {"08", outlook::passes},  // connection
    {sqlstate::read_only, outlook::waits},
    {"25", outlook::passes},  // state of a transaction, its time-outs
    {"40", outlook::passes},  // serialization, deadlock
    // max_replication_slots, temp_file_limit: lasts until they are raised, as for `walrelay check`.
    {sqlstate::configuration_limit_exceeded, outlook::decided_by_operator},
    {"53", outlook::waits},                // disk, memory, connections
    {"55", outlook::passes},               // a lock, or an object in use
    {"57", outlook::passes},               // an operator or a time-out has intervened
    {"58", outlook::waits},                // the system below the server
    {"72", outlook::passes},               // snapshot too old
    {"HV", outlook::passes},               // a foreign server
    {"XX", outlook::passes},               // internal
    {"22", outlook::of_a_row},             // data
    {"23", outlook::of_a_row},             // constraints
    {"27", outlook::of_a_row},             // a trigger has changed the row
    {"44", outlook::of_a_row},             // WITH CHECK OPTION
    {"P0", outlook::of_a_row},             // exceptions of PL/pgSQL
    {"0A", outlook::decided_by_operator},  // feature
    {"0L", outlook::decided_by_operator},  // grantor
    {"0P", outlook::decided_by_operator},  // role
    {"21", outlook::decided_by_operator},  // a subquery of several rows
    {"26", outlook::decided_by_operator},  // statement name: lost by a pooler
    {"28", outlook::decided_by_operator},  // authorization
    {"2B", outlook::decided_by_operator},  // dependent objects
    {"2D", outlook::decided_by_operator},  // a function ends the transaction
    {"2F", outlook::decided_by_operator},  // SQL routine
    {"38", outlook::decided_by_operator},  // external routine
    {"39", outlook::decided_by_operator},  // call of an external routine
    {"3D", outlook::decided_by_operator},  // database
    {"3F", outlook::decided_by_operator},  // schema
    {"42", outlook::decided_by_operator},  // syntax, rights, names
    {"54", outlook::decided_by_operator},  // limits of the program
}};

struct described_state {
    std::string_view code;
    server_state state;
};

constexpr std::array<described_state, 5> states = {{
    {sqlstate::read_only,
     {"PostgreSQL takes no writes: it is a standby, or set read-only",
      "name a primary as well in postgres.conninfo; where it is default_transaction_read_only "
      "(SELECT setting, source, sourcefile FROM pg_settings WHERE name = "
      "'default_transaction_read_only' tells who has set it; services do while a disk is nearly "
      "full), make room and set it off there"}},
    {sqlstate::disk_full, {"the disk of PostgreSQL is full", "make room on it, or let it grow"}},
    {sqlstate::out_of_memory,
     {"PostgreSQL has no memory left for it", "lower work_mem or max_connections there"}},
    {sqlstate::lock_not_available, {"somebody else holds a lock for longer than lock_timeout", ""}},
    {sqlstate::query_canceled,
     {"PostgreSQL cancelled the query: its time was over, or somebody ended it", ""}},
}};

}  // namespace

outlook outlook_for(std::string_view sqlstate) {
    const auto known = std::ranges::find_if(
        rules, [&](const rule& each) { return sqlstate.starts_with(each.code); });
    return known == rules.end() ? outlook::passes : known->what;
}

bool comes_back(std::string_view sqlstate) {
    const auto what = outlook_for(sqlstate);
    return what == outlook::of_a_row || what == outlook::decided_by_operator;
}

server_state state_behind(std::string_view sqlstate) {
    const auto* const known = std::ranges::find(states, sqlstate, &described_state::code);
    return known == states.end() ? server_state{} : known->state;
}

}  // namespace walrelay::postgres
