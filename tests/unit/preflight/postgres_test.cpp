#include "core/pooler_words.hpp"
#include "preflight/preflight.hpp"
#include "unit/preflight/sound_facts.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace walrelay::preflight {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

constexpr type_oid text = 25;

expectations wanted(std::optional<output_plugin> plugin = {}) {
    return {"walrelay", "walrelay", plugin, "OUTBOX", {{.table = {"public", "outbox"}}}};
}

/// The one finding, which must be an error.
finding only_error(const postgres_facts& facts, const expectations& asked = wanted(),
                   const std::optional<earlier_run>& earlier = {}) {
    auto found = postgres_findings(asked, facts, earlier);
    EXPECT_THAT(found, SizeIs(1));
    if (found.empty()) {
        return {finding_severity::note, "table_missing", "nothing was found", ""};
    }
    EXPECT_EQ(found[0].severity, finding_severity::error);
    EXPECT_FALSE(can_start(found));
    return found[0];
}

TEST(PostgresPreflight, FindsNothingWrongWithAServerThatIsSetUp) {
    EXPECT_THAT(postgres_findings(wanted(), sound_facts(), {}), IsEmpty());
}

TEST(PostgresPreflight, FindsAWalLevelThatIsTooLow) {
    auto facts = sound_facts();
    facts.wal_level = "replica";
    EXPECT_THAT(only_error(facts).remedy, HasSubstr("ALTER SYSTEM SET wal_level = logical"));
}

TEST(PostgresPreflight, FindsADatabaseThatIsNotUtf8) {
    auto facts = sound_facts();
    facts.encoding = "LATIN1";
    EXPECT_THAT(only_error(facts).what, HasSubstr("encoding LATIN1, and messages are UTF8"));
}

TEST(PostgresPreflight, FindsARoleWithoutReplication) {
    auto facts = sound_facts();
    facts.role_replicates = false;
    EXPECT_EQ(only_error(facts).remedy, "ALTER ROLE \"relay\" REPLICATION;");
}

TEST(PostgresPreflight, NamesWhatTheServiceHasInPlaceOfASuperuser) {
    auto facts = sound_facts();
    facts.service = managed_service::rds;
    facts.role_replicates = false;
    EXPECT_THAT(only_error(facts).remedy, HasSubstr("GRANT rds_replication TO \"relay\";"));
    facts.service = managed_service::neon;
    EXPECT_THAT(only_error(facts).remedy, HasSubstr("Neon's console"));
    facts.service = managed_service::azure;
    EXPECT_EQ(only_error(facts).remedy,
              "ALTER ROLE \"relay\" REPLICATION; as the administrator of the database");

    facts.role_replicates = true;
    facts.wal_level = "replica";
    EXPECT_THAT(only_error(facts).remedy, HasSubstr("server parameter wal_level = logical"));
    const auto remedy = [&](managed_service service) {
        facts.service = service;
        return only_error(facts).remedy;
    };
    EXPECT_THAT(remedy(managed_service::rds), HasSubstr("rds.logical_replication = 1 in the DB"));
    EXPECT_THAT(remedy(managed_service::cloud_sql), HasSubstr("cloudsql.logical_decoding = on"));
    EXPECT_THAT(remedy(managed_service::alloydb), HasSubstr("alloydb.logical_decoding = on"));
    EXPECT_THAT(remedy(managed_service::neon), HasSubstr("turn logical replication on"));
    EXPECT_THAT(remedy(managed_service::supabase), HasSubstr("--config wal_level=logical"));

    facts.wal_level = "logical";
    facts.slot.reset();
    facts.slots_free = 0;
    facts.service = managed_service::rds;
    const auto found = postgres_findings(wanted(), facts, {});
    ASSERT_THAT(found, SizeIs(2)) << "it is missing, and none is free";
    EXPECT_THAT(found[1].remedy, testing::Not(HasSubstr("ALTER SYSTEM")));
}

/// The server decides, and not the attribute.
TEST(PostgresPreflight, BelievesAServerThatLetsTheRoleReplicate) {
    auto facts = sound_facts();
    facts.role_has_replication = false;
    facts.role_replicates = true;
    EXPECT_THAT(postgres_findings(wanted(), facts, {}), IsEmpty());
}

TEST(PostgresPreflight, NamesTheRoleThatSupabaseLetsReplicate) {
    auto facts = sound_facts();
    facts.role_replicates = false;
    facts.service = managed_service::supabase;
    EXPECT_THAT(only_error(facts).remedy,
                testing::AllOf(HasSubstr("use the role postgres"), Not(HasSubstr("ALTER ROLE"))));
    facts.version_number = 170'006;
    EXPECT_THAT(postgres_findings(wanted(), facts, {}),
                testing::Contains(testing::Field(&finding::remedy,
                                                 HasSubstr("ALTER ROLE \"relay\" REPLICATION;"))));
}

TEST(PostgresPreflight, SaysWhoRefusesAReplicationConnection) {
    auto facts = sound_facts();
    facts.role_has_replication = true;
    facts.replication_refused = {errc::postgres_refused, "a pooler answers", "connect past it",
                                 "unsupported startup parameter"};
    const auto found = only_error(facts);
    EXPECT_EQ(found.code.text(), "replication_refused");
    EXPECT_THAT(found.what, HasSubstr("a pooler answers (server: unsupported startup parameter)"));
    EXPECT_EQ(found.remedy, "connect past it");
    facts.role_has_replication = facts.role_replicates = false;
    facts.replication_refused->server_said = "permission denied to start WAL sender";
    EXPECT_THAT(only_error(facts).what, HasSubstr("(permission denied to start WAL sender)"));
    // No right would help there.
    facts.replication_refused->remedy = how_past_the_pooler;
    EXPECT_EQ(only_error(facts).code.text(), "replication_refused");
    EXPECT_EQ(only_error(facts).remedy, how_past_the_pooler);
}

TEST(PostgresPreflight, CountsRowsThatANewSlotNeverSends) {
    auto facts = sound_facts();
    facts.slot.reset();
    facts.tables[0].rows = row_count{3, true};
    const auto found = postgres_findings(wanted(), facts, {});
    ASSERT_THAT(found, SizeIs(2));
    EXPECT_EQ(found[0].code.text(), "slot_missing");
    EXPECT_EQ(found[1].code.text(), "rows_before_slot");
    EXPECT_EQ(found[1].severity, finding_severity::warning);
    EXPECT_THAT(found[1].what, HasSubstr("table public.outbox has 3 rows, which slot walrelay"));
    EXPECT_THAT(found[1].remedy, HasSubstr("postgres.snapshot"));

    facts.tables[0].rows = row_count{2'000'000, false};
    EXPECT_THAT(postgres_findings(wanted(), facts, {}).at(1).what,
                HasSubstr("has about 2000000 rows"));
    facts.tables[0].rows = row_count{0, true};
    EXPECT_THAT(postgres_findings(wanted(), facts, {}), SizeIs(1));
    facts.tables[0].rows = row_count{3, true};
    auto asked = wanted();
    asked.snapshot = true;
    EXPECT_THAT(postgres_findings(asked, facts, {}), SizeIs(1)) << "they are published";
}

TEST(PostgresPreflight, RefusesASnapshotThatComesTooLate) {
    auto facts = sound_facts();
    auto asked = wanted();
    asked.snapshot = true;
    const earlier_run ran{"it ends with position 0/1-1-1", false, true};
    facts.slot_began_with = "none";
    const auto new_slot = only_error(facts, asked);
    EXPECT_EQ(new_slot.code.text(), "snapshot_on_slot");
    EXPECT_THAT(new_slot.remedy, HasSubstr("walrelay replay --table"));
    EXPECT_THAT(new_slot.remedy, HasSubstr("walrelay drop"));
    const auto used_slot = only_error(facts, asked, ran);
    EXPECT_THAT(used_slot.remedy, testing::Not(HasSubstr("drop")))
        << "it holds what the stream does not have";

    facts.slot_began_with = "";
    const auto of_others = postgres_findings(asked, facts, {});
    ASSERT_THAT(of_others, SizeIs(1));
    EXPECT_EQ(of_others[0].severity, finding_severity::warning) << "not known";
    EXPECT_THAT(of_others[0].remedy, testing::Not(HasSubstr("drop"))) << "somebody else's slot";
    EXPECT_THAT(postgres_findings(asked, facts, ran), IsEmpty()) << "not known, and it has run";
    for (const auto* const known : {"pending", "all"}) {
        facts.slot_began_with = known;
        EXPECT_THAT(postgres_findings(asked, facts, {}), IsEmpty());
    }
    facts.slot_began_with.reset();
    EXPECT_THAT(postgres_findings(asked, facts, {}), IsEmpty());
}

TEST(PostgresPreflight, FindsAStandbyThatIsTooOldToDecode) {
    auto facts = sound_facts();
    facts.in_recovery = true;
    EXPECT_THAT(postgres_findings(wanted(), facts, {}).at(0).what, HasSubstr("standby"));
    facts.version_number = 160000;
    const auto found = postgres_findings(wanted(), facts, {});
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].severity, finding_severity::note) << "the witness cannot be written there";
}

TEST(PostgresPreflight, FindsATableThatIsMissing) {
    auto facts = sound_facts();
    facts.tables[0].exists = false;
    EXPECT_THAT(only_error(facts).what,
                HasSubstr("table public.outbox does not exist in database app"));
}

TEST(PostgresPreflight, NamesTheTableThatIsThereInAnotherCaseOrSchema) {
    const auto remedy_beside = [](const table_name& other) {
        auto facts = sound_facts();
        facts.tables[0].exists = false;
        facts.other_tables = {{"public", "users"}, other};
        return only_error(facts).remedy;
    };
    EXPECT_THAT(remedy_beside({"public", "Outbox"}),
                HasSubstr("did you mean public.\"Outbox\"? write --table 'public.\"Outbox\"'"));
    EXPECT_THAT(remedy_beside({"shop", "out_box"}), HasSubstr("did you mean shop.out_box?"));
    EXPECT_THAT(remedy_beside({"public", "outboxes"}), HasSubstr("did you mean public.outboxes?"));
    EXPECT_THAT(remedy_beside({"public", "inventory"}), Not(HasSubstr("did you mean")));
}

TEST(PostgresPreflight, FindsATableWithoutPayloadUnlessThatIsMeant) {
    auto facts = sound_facts();
    facts.tables[0].columns.back().name = "content";
    EXPECT_THAT(only_error(facts).what,
                HasSubstr("its columns are id, aggregate_type, event_type, content"));
    auto asked = wanted();
    asked.tables[0].columns.payload = "";
    EXPECT_THAT(postgres_findings(asked, facts, {}), IsEmpty());
    asked.tables[0].columns.payload = "content";
    EXPECT_THAT(postgres_findings(asked, facts, {}), IsEmpty());
    facts.tables[0].columns.back().name = "payload";
    EXPECT_THAT(postgres_findings(wanted(), facts, {}), IsEmpty());
}

TEST(PostgresPreflight, FindsTablesWhoseRowsNeverReachTheWal) {
    auto view = sound_facts();
    view.tables[0].ordinary = false;
    EXPECT_THAT(only_error(view).what, HasSubstr("not a table"));
    auto unlogged = sound_facts();
    unlogged.tables[0].unlogged = true;
    EXPECT_THAT(only_error(unlogged).remedy, HasSubstr("SET LOGGED"));
}

TEST(PostgresPreflight, FindsAColumnThatTheSubjectNeeds) {
    auto facts = sound_facts();
    facts.tables[0].columns = {{"id", text}, {"event_type", text}, {"event_data", text}};
    EXPECT_THAT(only_error(facts).what, HasSubstr("aggregate_type"));
}

TEST(PostgresPreflight, SpellsOutHowAServerIsMadeToAcceptWal2json) {
    auto facts = sound_facts();
    facts.slot->plugin = "wal2json";
    const auto found = only_error(facts);
    EXPECT_THAT(found.what, HasSubstr("output_plugin_libraries is pgoutput, test_decoding"));
    EXPECT_THAT(found.remedy,
                HasSubstr("ALTER SYSTEM SET output_plugin_libraries = pgoutput, test_decoding, "
                          "wal2json; SELECT pg_reload_conf();"));
}

/// Where there is no shell on the server, and no superuser.
TEST(PostgresPreflight, SendsNobodyOfAManagedServiceToAShell) {
    auto facts = sound_facts();
    facts.slot->plugin = "wal2json";
    for (const auto service :
         {managed_service::rds, managed_service::cloud_sql, managed_service::alloydb,
          managed_service::azure, managed_service::neon, managed_service::supabase}) {
        facts.service = service;
        for (const auto trouble : {plugin_trouble::not_allowed, plugin_trouble::not_installed,
                                   plugin_trouble::too_old}) {
            facts.wal2json = trouble;
            EXPECT_THAT(only_error(facts).remedy,
                        testing::AllOf(testing::Not(HasSubstr("ALTER SYSTEM")),
                                       testing::Not(HasSubstr("apt")),
                                       HasSubstr("postgres.plugin = \"pgoutput\"")));
        }
    }
}

TEST(PostgresPreflight, FindsASlotOfAnotherPlugin) {
    EXPECT_THAT(only_error(
                    [] {
                        auto facts = sound_facts();
                        facts.wal2json = plugin_trouble::none;
                        return facts;
                    }(),
                    wanted(output_plugin::wal2json))
                    .remedy,
                HasSubstr("set postgres.plugin = \"pgoutput\""));
}

TEST(PostgresPreflight, FindsASlotThatCannotBeUsed) {
    auto physical = sound_facts();
    physical.slot->plugin = "";
    EXPECT_THAT(only_error(physical).what, HasSubstr("physical"));
    auto elsewhere = sound_facts();
    elsewhere.slot->database = "other";
    elsewhere.publication.reset();
    const auto found = postgres_findings(wanted(), elsewhere, {});
    EXPECT_FALSE(can_start(found));
    EXPECT_THAT(found[0].what, HasSubstr("belongs to database other"));
    for (const auto& each : found) {
        EXPECT_THAT(each.remedy, Not(HasSubstr("pg_drop_replication_slot"))) << each.what;
    }
    auto lost = sound_facts();
    lost.slot->wal_status = "lost";
    EXPECT_THAT(only_error(lost).remedy, HasSubstr("walrelay resume --heal"));
    auto prepared = sound_facts();
    prepared.slot->two_phase = true;
    EXPECT_THAT(only_error(prepared).what, HasSubstr("two_phase"));
    EXPECT_THAT(only_error(prepared).remedy,
                testing::StartsWith("SELECT pg_copy_logical_replication_slot('walrelay', "));
}

TEST(PostgresPreflight, LeavesAFirstStartToRun) {
    auto facts = sound_facts();
    facts.slot.reset();
    facts.publication.reset();
    const auto found = postgres_findings(wanted(), facts, {});
    EXPECT_TRUE(can_start(found));
    EXPECT_THAT(found, SizeIs(2)) << "a note for the slot, one for the publication";
}

TEST(PostgresPreflight, TakesAMissingSlotForAGapWhereTheStreamShowsAnEarlierRun) {
    auto facts = sound_facts();
    facts.slot.reset();
    const auto found = only_error(facts, wanted(), earlier_run{"it ends with position 1.1.00.0"});
    EXPECT_THAT(found.what, HasSubstr("would silently skip"));
    EXPECT_THAT(found.remedy, HasSubstr("walrelay init --new-slot"));
}

stream_facts empty_stream(std::uint64_t counts_from, std::uint64_t last_sequence) {
    stream_facts stream;
    stream.counts_from = counts_from;
    stream.first_sequence = last_sequence + 1;
    stream.last_sequence = last_sequence;
    return stream;
}

TEST(PostgresPreflight, TakesAStreamThatCountsFromANumberForNew) {
    EXPECT_FALSE(earlier_run_of(empty_stream(1, 0)));
    EXPECT_FALSE(earlier_run_of(empty_stream(500, 499)));
    EXPECT_TRUE(earlier_run_of(empty_stream(1, 499))) << "nothing says that it was made so";
    EXPECT_TRUE(earlier_run_of(empty_stream(500, 520))) << "it has had 21 messages";
    auto purged = empty_stream(500, 499);
    purged.last_stored.emplace();
    EXPECT_TRUE(earlier_run_of(purged)) << "a message was stored once";
}

TEST(PostgresPreflight, TakesAStreamThatCountsFromANumberForWhole) {
    stream_facts stream;
    stream.counts_from = 500;
    stream.first_sequence = 500;
    stream.last_sequence = 509;
    stream.message_count = 10;
    stream.last_message_there = true;
    stream.last_position.emplace();
    EXPECT_TRUE(earlier_run_of(stream)->stream_is_whole);
    EXPECT_EQ(stream.removed_count(), 0U);
    stream.first_sequence = 503;
    stream.message_count = 7;
    EXPECT_FALSE(earlier_run_of(stream)->stream_is_whole);
    EXPECT_EQ(stream.removed_count(), 3U);
}

/// A database without a slot, and what walrelay is asked to do about rows that were there.
std::optional<backfill_reason> chosen(bool snapshot, bool heals,
                                      const std::optional<earlier_run>& earlier) {
    auto facts = sound_facts();
    facts.slot.reset();
    auto asked = wanted();
    asked.snapshot = snapshot;
    asked.heals = heals;
    return choose_backfill(asked, facts, earlier, false);
}

TEST(PostgresPreflight, ReadsTheTablesFirstWhereItIsAskedTo) {
    EXPECT_FALSE(chosen(false, false, {}));
    EXPECT_FALSE(chosen(false, true, {})) << "nothing is lost where there was no earlier run";
    EXPECT_EQ(chosen(true, false, {}), backfill_reason::first_start);
}

TEST(PostgresPreflight, TakesUpASnapshotThatBrokeOff) {
    const earlier_run broken_off{"it ends with position 1.1.07.0", true, true};
    EXPECT_EQ(chosen(true, false, broken_off), backfill_reason::interrupted);
    EXPECT_EQ(chosen(true, true, broken_off), backfill_reason::interrupted);
    EXPECT_FALSE(chosen(false, false, broken_off));
    EXPECT_EQ(chosen(true, false, earlier_run{"it ends with position 1.1.08.0", false, true}),
              std::nullopt)
        << "the slot was there, and is lost";
}

TEST(PostgresPreflight, HealsALostSlotOnlyWhereItMay) {
    const earlier_run streamed{"it ends with position 1.1.08.0", false, true};
    EXPECT_FALSE(chosen(false, false, streamed));
    EXPECT_EQ(chosen(false, true, streamed), backfill_reason::slot_lost);
    const earlier_run without_beginning{"it ends with position 1.1.07.0", true, false};
    EXPECT_EQ(chosen(true, true, without_beginning), backfill_reason::slot_lost)
        << "rows that the stream's limits have removed must not be published again";
}

TEST(PostgresPreflight, HealsASlotThatLacksWalOrIsKnownToHaveMoved) {
    auto facts = sound_facts();
    auto asked = wanted();
    EXPECT_FALSE(choose_backfill(asked, facts, {}, true));
    asked.heals = true;
    EXPECT_FALSE(choose_backfill(asked, facts, {}, false));
    EXPECT_EQ(choose_backfill(asked, facts, {}, true), backfill_reason::slot_lost);
    facts.slot->wal_status = "lost";
    EXPECT_EQ(choose_backfill(asked, facts, {}, false), backfill_reason::slot_lost);
    EXPECT_TRUE(can_start(postgres_findings(asked, facts, {})));
}

TEST(PostgresPreflight, WantsTwoSlotsForASnapshot) {
    auto facts = sound_facts();
    facts.slot.reset();
    facts.slots_free = 1;
    auto asked = wanted();
    EXPECT_TRUE(can_start(postgres_findings(asked, facts, {})));
    asked.snapshot = true;
    EXPECT_FALSE(can_start(postgres_findings(asked, facts, {})));
}

TEST(PostgresPreflight, FindsThatAllSlotsAreTaken) {
    auto facts = sound_facts();
    facts.slot.reset();
    facts.slots_free = 0;
    EXPECT_FALSE(can_start(postgres_findings(wanted(), facts, {})));
}

TEST(PostgresPreflight, FindsAPublicationThatMissesTheTable) {
    auto facts = sound_facts();
    facts.publication->tables.clear();
    EXPECT_EQ(only_error(facts).remedy,
              "ALTER PUBLICATION \"walrelay\" ADD TABLE \"public\".\"outbox\";");
}

TEST(PostgresPreflight, FindsAPublicationWithoutInserts) {
    auto facts = sound_facts();
    facts.publication->publishes_inserts = false;
    EXPECT_THAT(only_error(facts).remedy, HasSubstr("SET (publish = 'insert')"));
}

TEST(PostgresPreflight, FindsAPublicationYoungerThanTheSlot) {
    auto facts = sound_facts();
    facts.publication->younger_than_slot = true;
    facts.wal2json = plugin_trouble::none;
    const auto found = only_error(facts);
    EXPECT_THAT(found.what, HasSubstr("created after the position of slot walrelay"));
    EXPECT_THAT(found.remedy, testing::StartsWith("walrelay verify names what the stream lacks"));
    EXPECT_THAT(found.remedy, HasSubstr("with every relay stopped, set postgres.plugin"));
    EXPECT_THAT(found.remedy, HasSubstr("which destroys what only the slot holds"));
}

TEST(PostgresPreflight, FindsAMissingPublicationWhereTheSlotIsThere) {
    auto facts = sound_facts();
    facts.publication.reset();
    EXPECT_THAT(only_error(facts).remedy, HasSubstr("CREATE PUBLICATION \"walrelay\""));
}

TEST(PostgresPreflight, DoesNotAskForAPublicationWithWal2json) {
    auto facts = sound_facts();
    facts.publication.reset();
    facts.slot->plugin = "wal2json";
    facts.wal2json = plugin_trouble::none;
    EXPECT_THAT(postgres_findings(wanted(), facts, {}), IsEmpty());
}

TEST(PostgresPreflight, TellsOfPartitionsUnderWal2json) {
    auto facts = sound_facts();
    facts.slot->plugin = "wal2json";
    facts.wal2json = plugin_trouble::none;
    facts.tables[0].partitioned = true;
    const auto found = postgres_findings(wanted(), facts, {});
    ASSERT_THAT(found, SizeIs(1));
    EXPECT_EQ(found[0].severity, finding_severity::note);
}

TEST(PostgresPreflight, NamesTheVersionThatAnOldWal2jsonLacks) {
    auto facts = sound_facts();
    facts.slot->plugin = "wal2json";
    facts.wal2json = plugin_trouble::too_old;
    const auto found = only_error(facts);
    EXPECT_THAT(found.what, HasSubstr("older than 2.5"));
    EXPECT_THAT(found.remedy, HasSubstr("wal2json 2.5 or newer"));
    EXPECT_THAT(found.remedy, HasSubstr("walrelay init --switch-plugin"));
}

TEST(PostgresPreflight, TellsAPluginThatIsNotInstalledFromOneThatIsNotAllowed) {
    auto facts = sound_facts();
    facts.slot.reset();
    facts.wal2json = plugin_trouble::not_installed;
    const auto found = postgres_findings(wanted(output_plugin::wal2json), facts, {});
    ASSERT_FALSE(can_start(found));
    EXPECT_THAT(found[0].what, HasSubstr("not installed"));
    EXPECT_THAT(found[0].remedy, HasSubstr("apt-get install postgresql-15-wal2json"));
}

TEST(PostgresPreflight, SaysThatTheRoleMayNotCreateThePublication) {
    auto facts = sound_facts();
    facts.slot.reset();
    facts.publication.reset();
    facts.publication_refused = error{errc::postgres_unsuitable, "no", "", "permission denied"};
    const auto found = postgres_findings(wanted(), facts, {});
    ASSERT_FALSE(can_start(found));
    EXPECT_THAT(found.back().what, HasSubstr("(server: permission denied)"));
    EXPECT_THAT(found.back().remedy, HasSubstr("as the owner of the tables: CREATE PUBLICATION"));
}

TEST(PostgresPreflight, LetsAFirstStartWaitForAServerThatTakesNoWrites) {
    auto facts = sound_facts();
    const auto slot = facts.slot;
    facts.publication_waits = error{errc::postgres_lost, "no publication now"};
    EXPECT_FALSE(waits_to_make(wanted(), facts)) << "there is one";
    facts.publication.reset();
    EXPECT_FALSE(waits_to_make(wanted(), facts)) << "that has relayed before";
    facts.slot.reset();
    ASSERT_TRUE(waits_to_make(wanted(), facts));
    EXPECT_EQ(waits_to_make(wanted(), facts)->what, "no publication now");
    EXPECT_FALSE(waits_to_make(wanted(output_plugin::wal2json), facts)) << "needs none";
    facts.making_waits = error{errc::postgres_lost, "no table now"};
    EXPECT_TRUE(waits_to_make(wanted(output_plugin::wal2json), facts));
    facts.slot = slot;
    EXPECT_FALSE(waits_to_make(wanted(), facts));
}

TEST(ChoosePlugin, TakesNoWal2jsonByItselfThatMayBeTooOld) {
    auto facts = sound_facts();
    facts.slot.reset();
    facts.wal2json = plugin_trouble::none;
    EXPECT_EQ(choose_plugin(wanted(), facts), output_plugin::wal2json);
    facts.version_number = 140'010;
    EXPECT_EQ(choose_plugin(wanted(), facts), output_plugin::pgoutput);
    EXPECT_EQ(choose_plugin(wanted(output_plugin::wal2json), facts), output_plugin::wal2json);
    facts.version_number = 150'010;
    facts.wal2json = plugin_trouble::too_old;
    EXPECT_EQ(choose_plugin(wanted(), facts), output_plugin::pgoutput);
}

TEST(ChoosePlugin, TakesTheOneAskedForThenTheSlotsThenWal2jsonWhereAllowed) {
    auto facts = sound_facts();
    EXPECT_EQ(choose_plugin(wanted(output_plugin::wal2json), facts), output_plugin::wal2json);
    EXPECT_EQ(choose_plugin(wanted(), facts), output_plugin::pgoutput);
    facts.slot.reset();
    EXPECT_EQ(choose_plugin(wanted(), facts), output_plugin::pgoutput);
    facts.wal2json = plugin_trouble::none;
    EXPECT_EQ(choose_plugin(wanted(), facts), output_plugin::wal2json);
    facts.tables[0].partitioned = true;
    EXPECT_EQ(choose_plugin(wanted(), facts), output_plugin::pgoutput);
    EXPECT_EQ(choose_plugin(wanted(output_plugin::wal2json), facts), output_plugin::wal2json);
}

expectations wanted_messages() {
    auto asked = wanted(output_plugin::pgoutput);
    asked.tables = {{.table = message_source("orders"), .message_prefix = "orders"}};
    return asked;
}

TEST(PostgresPreflight, AsksNoTableOfLogicalMessages) {
    auto facts = sound_facts();
    facts.tables = {{.table = message_source("orders")}};
    EXPECT_THAT(postgres_findings(wanted_messages(), facts, {}), IsEmpty());
}

TEST(PostgresPreflight, FindsAnOldPgoutputThatSendsNoLogicalMessages) {
    auto facts = sound_facts();
    facts.tables = {{.table = message_source("orders")}};
    facts.version_number = 139999;
    const auto found = only_error(facts, wanted_messages());
    EXPECT_THAT(found.what, HasSubstr("from PostgreSQL 14 on"));
    EXPECT_THAT(found.remedy, HasSubstr("wal2json"));
}

TEST(PostgresPreflight, NeverListsLogicalMessagesInAPublication) {
    auto facts = sound_facts();
    facts.tables = {{.table = message_source("orders")}};
    facts.publication.reset();
    EXPECT_THAT(only_error(facts, wanted_messages()).remedy,
                HasSubstr("CREATE PUBLICATION \"walrelay\" WITH"));
}

TEST(PostgresPreflight, SaysWhyASlotWasInvalidated) {
    auto facts = sound_facts();
    facts.slot->wal_status = "lost";
    facts.slot->invalidation_reason = "idle_timeout";
    EXPECT_THAT(only_error(facts).what, HasSubstr("invalidation_reason = idle_timeout"));
    EXPECT_THAT(only_error(facts).what, HasSubstr("idle_replication_slot_timeout"));
}

}  // namespace
}  // namespace walrelay::preflight
