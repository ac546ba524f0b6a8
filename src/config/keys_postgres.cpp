// The keys of [postgres].
#include "config/key_makers.hpp"
#include "config/sections.hpp"

namespace walrelay::config {

std::vector<key> postgres_keys() {
    return {
        text_key(
            {"postgres", "conninfo", "--postgres",
             "How to reach the database: a libpq connection string or URI. `PG*` variables and "
             "the password file of libpq are honoured, so no password need stand here. "
             "Required."},
            [](const destination& to) -> std::string& { return to.all.postgres.conninfo; }),
        text_key(
            {"postgres", "slot", "--slot",
             "The logical replication slot: 1 to 63 of the characters `a-z`, `0-9` and `_`."},
            [](const destination& to) -> std::string& { return to.all.postgres.slot; }, check_slot),
        choice_key<std::optional<output_plugin>>(
            {"postgres", "plugin", "--plugin",
             "The output plugin of the slot. `\"auto\"` takes the plugin of the slot that is "
             "there; "
             "for a new one `wal2json` where the server accepts it, is PostgreSQL 15 or newer and "
             "no outbox is partitioned, else `pgoutput`. wal2json must be 2.5 or newer."},
            [](const destination& to) -> std::optional<output_plugin>& {
                return to.all.postgres.plugin;
            },
            {{"auto", std::nullopt},
             {"wal2json", output_plugin::wal2json},
             {"pgoutput", output_plugin::pgoutput}}),
        text_key(
            {"postgres", "publication", "--publication",
             "The publication that lists the outbox tables. Only `pgoutput` uses it. The name "
             "is taken as it is, case included."},
            [](const destination& to) -> std::string& { return to.all.postgres.publication; },
            check_publication),
        choice_key<snapshot_mode>(
            {"postgres", "snapshot", "--snapshot",
             "Which rows that were in the tables before the slot was created are published first: "
             "none, those of each table's `pending`, or all of them. Whatever published rows of "
             "these tables before must have stopped when walrelay starts with it."},
            [](const destination& to) -> snapshot_mode& { return to.all.postgres.snapshot; },
            {{"none", snapshot_mode::none},
             {"pending", snapshot_mode::pending},
             {"all", snapshot_mode::all}}),
        choice_key<std::optional<bool>>(
            {"postgres", "failover", "--failover",
             "Whether the slot is made as a failover slot, of which standbys keep a copy, so that "
             "it is there after a promotion: `\"auto\"` where the server can (PostgreSQL 17 and "
             "newer), `\"true\"` or not at all, `\"false\"` never. A slot that is there is left "
             "as it is."},
            [](const destination& to) -> std::optional<bool>& { return to.all.postgres.failover; },
            {{"auto", std::nullopt}, {"true", true}, {"false", false}}),
    };
}

}  // namespace walrelay::config
