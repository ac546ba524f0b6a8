// A database that is set up for one outbox, of which a test spoils what it is about.
#pragma once

#include "core/facts.hpp"

namespace walrelay::preflight {

inline postgres_facts sound_facts() {
    constexpr type_oid text = 25;
    postgres_facts facts;
    facts.version_number = 150020;
    facts.database = "app";
    facts.encoding = "UTF8";
    facts.wal_level = "logical";
    facts.role = "relay";
    facts.role_replicates = true;
    facts.may_make_tables = true;
    facts.slots_free = 5;
    facts.senders_free = 5;
    facts.output_plugin_libraries = "pgoutput, test_decoding";
    facts.slot = slot_facts{.plugin = "pgoutput", .database = "app", .wal_status = "reserved"};
    facts.publication = publication_facts{
        .publishes_inserts = true, .via_partition_root = true, .tables = {{"public", "outbox"}}};
    table_facts table;
    table.table = {"public", "outbox"};
    table.exists = true;
    table.ordinary = true;
    for (const auto* const name : {"id", "aggregate_type", "event_type", "event_data"}) {
        table.columns.push_back({name, text});
    }
    facts.tables = {table};
    return facts;
}

}  // namespace walrelay::preflight
