#include "relay/intake/table_catalog.hpp"

#include <gtest/gtest.h>

#include <string>

namespace walrelay::relay {
namespace {

using kind = table_catalog::answer::kind;

postgres_facts sample_facts() {
    postgres_facts facts;
    facts.tables.resize(2);
    facts.tables[1].leaves = {{"public", "b_2026"}};
    facts.other_tables = {{"public", "users"}};
    return facts;
}

const std::vector<outbox_table> tables{{.table = {"public", "a"}}, {.table = {"public", "b"}}};

TEST(TableCatalog, FindsTablesAndTheirPartitions) {
    const table_catalog catalog(tables, sample_facts());
    EXPECT_EQ(catalog.find({"public", "a"}).what, kind::outbox);
    EXPECT_EQ(catalog.find({"public", "a"}).index, 0U);
    EXPECT_EQ(catalog.find({"public", "b_2026"}).what, kind::outbox);
    EXPECT_EQ(catalog.find({"public", "b_2026"}).index, 1U);
}

TEST(TableCatalog, KnowsWhichTablesAreNamedByTheirPartitions) {
    auto facts = sample_facts();
    facts.tables[1].partitioned = true;
    const auto by_leaf = [&] {
        return table_catalog(tables, facts).is_named_by_leaf(1, output_plugin::pgoutput);
    };
    EXPECT_FALSE(by_leaf()) << "walrelay makes the publication";
    facts.publication.emplace();
    facts.publication->tables = {{"public", "a"}, {"public", "b_2026"}};
    EXPECT_TRUE(by_leaf());
    facts.publication->for_all_tables = true;
    EXPECT_FALSE(by_leaf()) << "any other table is in it as well";
    facts.publication->for_all_tables = false;
    facts.publication->tables = {{"public", "a"}, {"public", "b"}};
    EXPECT_FALSE(by_leaf());
    EXPECT_FALSE(table_catalog(tables, facts).names_leaves(output_plugin::pgoutput));
    EXPECT_TRUE(table_catalog(tables, facts).names_leaves(output_plugin::wal2json));
    EXPECT_FALSE(table_catalog(tables, facts).is_named_by_leaf(0, output_plugin::wal2json));
}

TEST(TableCatalog, TellsOtherTablesFromUnknownOnes) {
    table_catalog catalog(tables, sample_facts());
    EXPECT_EQ(catalog.find({"public", "users"}).what, kind::other);
    EXPECT_EQ(catalog.find({"public", "new"}).what, kind::unknown);
    catalog.settle_as_other({"public", "new"});
    EXPECT_EQ(catalog.find({"public", "new"}).what, kind::other);
}

TEST(TableCatalog, KnowsTheTypesThatWereThere) {
    auto facts = sample_facts();
    EXPECT_TRUE(table_catalog(tables, facts).knows_type(20000)) << "nobody has looked";
    facts.types = std::vector<type_oid>{20001, 20003};
    facts.domains = {{20005, 3802}};
    const table_catalog catalog(tables, facts);
    for (const type_oid known : {25U, 20001U, 20003U, 20005U}) {
        EXPECT_TRUE(catalog.knows_type(known)) << known;
    }
    EXPECT_FALSE(catalog.knows_type(20000));
}

relation table_of(const std::string& name, std::uint32_t oid) {
    return {.schema = "public", .name = name, .columns = {}, .revision = 1, .oid = oid};
}

postgres_facts facts_with_oids() {
    auto facts = sample_facts();
    facts.tables[0].oid = 20000;
    facts.tables[1].oid = 20001;
    facts.tables[1].leaf_oids = {20002};
    facts.publication = publication_facts{.for_all_tables = true};
    facts.open_names = {{"public", "PUBLIC", false}};
    return facts;
}

TEST(TableCatalog, KnowsATableByItsOidWhateverItIsCalled) {
    const table_catalog catalog(tables, facts_with_oids());
    EXPECT_EQ(catalog.find_relation(table_of("a", 20000), lsn{1}).what, kind::outbox);
    EXPECT_EQ(catalog.find_relation(table_of("before", 20000), lsn{1}).what, kind::outbox);
    EXPECT_EQ(catalog.find_relation(table_of("b_2026", 20002), lsn{1}).index, 1U);
    EXPECT_EQ(catalog.find_relation(table_of("a", 0), lsn{1}).what, kind::outbox)
        << "wal2json does not tell";
}

TEST(TableCatalog, AnotherTableOfTheNameIsNotProved) {
    auto facts = facts_with_oids();
    EXPECT_EQ(table_catalog(tables, facts).find_relation(table_of("a", 20007), lsn{1}).what,
              kind::unproved);
    EXPECT_EQ(table_catalog(tables, facts).find_relation(table_of("b_2026", 20007), lsn{1}).what,
              kind::unproved);
    facts.publication = publication_facts{};
    EXPECT_EQ(table_catalog(tables, facts).find_relation(table_of("a", 20007), lsn{1}).what,
              kind::outbox)
        << "only who owns the publication had it sent";
    facts.publication = publication_facts{.for_schemas = true};
    EXPECT_EQ(table_catalog(tables, facts).find_relation(table_of("a", 20007), lsn{1}).what,
              kind::unproved);
    facts.open_names.clear();
    EXPECT_EQ(table_catalog(tables, facts).find_relation(table_of("a", 20007), lsn{1}).what,
              kind::outbox)
        << "nobody else can make one";
}

using past = table_catalog::answer::past;

postgres_facts facts_with_gone(const table_name& leaf, lsn at) {
    auto facts = sample_facts();
    facts.gone_partitions = {{{"public", "b"}, leaf, at}};
    return facts;
}

TEST(TableCatalog, AGonePartitionIsOursForWhatCommittedBefore) {
    const table_name leaf{"public", "b_2025"};
    table_catalog catalog(tables, facts_with_gone(leaf, lsn{100}));
    EXPECT_EQ(catalog.find(leaf, lsn{99}).what, kind::outbox);
    EXPECT_EQ(catalog.find(leaf, lsn{99}).index, 1U);
    EXPECT_EQ(catalog.find(leaf, lsn{100}).what, kind::unknown) << "it may be one again";
    catalog.settle_as_other(leaf);
    EXPECT_EQ(catalog.find(leaf, lsn{100}).what, kind::other);
    EXPECT_EQ(catalog.find(leaf, lsn{100}).before, past::known);
    EXPECT_EQ(catalog.find(leaf, lsn{99}).what, kind::outbox);
}

TEST(TableCatalog, WhatNeverWasAPartitionIsLeftAloneForGood) {
    const table_name leaf{"public", "users"};
    const table_catalog catalog(tables, facts_with_gone(leaf, lsn{}));
    EXPECT_EQ(catalog.find(leaf, lsn{1}).what, kind::other);
    EXPECT_EQ(catalog.find(leaf, lsn{1}).before, past::known);
}

TEST(TableCatalog, APartitionThatIsOneNowIsNotGone) {
    const table_name leaf{"public", "b_2026"};
    const table_catalog catalog(tables, facts_with_gone(leaf, lsn{100}));
    EXPECT_EQ(catalog.find(leaf, lsn{200}).what, kind::outbox);
    EXPECT_EQ(catalog.find(leaf, table_catalog::forever).what, kind::outbox);
}

TEST(TableCatalog, SaysWhatMayHaveBeenAPartition) {
    table_catalog catalog(tables, sample_facts());
    EXPECT_EQ(catalog.find({"public", "users"}).before, past::now_by_itself);
    catalog.settle_as_other({"public", "new"});
    EXPECT_EQ(catalog.find({"public", "new"}).before, past::vanished);
}

TEST(TableCatalog, KeepsWhatItLearnsOfSingleTablesWithinBounds) {
    table_catalog catalog(tables, sample_facts());
    catalog.learn_other({"jobs", "first"}, true);
    EXPECT_EQ(catalog.find({"jobs", "first"}).what, kind::other);
    EXPECT_EQ(catalog.find({"jobs", "first"}).before, past::now_by_itself);
    catalog.learn_other({"jobs", "gone"}, false);
    EXPECT_EQ(catalog.find({"jobs", "gone"}).before, past::vanished);
    for (std::size_t number = 2; number < table_catalog::learned_max; ++number) {
        catalog.learn_other({"jobs", std::to_string(number)}, true);
    }
    EXPECT_EQ(catalog.find({"jobs", "first"}).what, kind::other);
    catalog.learn_other({"jobs", "last"}, true);
    EXPECT_EQ(catalog.find({"jobs", "first"}).what, kind::unknown) << "it is asked for again";
    EXPECT_EQ(catalog.find({"jobs", "last"}).what, kind::other);
}

TEST(TableCatalog, LearnsThatAGonePartitionIsItsOwnSince) {
    const table_name leaf{"public", "b_2025"};
    table_catalog catalog(tables, facts_with_gone(leaf, lsn{100}));
    catalog.learn_other(leaf, true);
    EXPECT_EQ(catalog.find(leaf, lsn{99}).what, kind::outbox);
    EXPECT_EQ(catalog.find(leaf, lsn{100}).what, kind::other);
}

}  // namespace
}  // namespace walrelay::relay
