#include "relay/table_catalog.hpp"

#include <gtest/gtest.h>

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

TEST(TableCatalog, TellsOtherTablesFromUnknownOnes) {
    table_catalog catalog(tables, sample_facts());
    EXPECT_EQ(catalog.find({"public", "users"}).what, kind::other);
    EXPECT_EQ(catalog.find({"public", "new"}).what, kind::unknown);
    catalog.settle_as_other({"public", "new"});
    EXPECT_EQ(catalog.find({"public", "new"}).what, kind::other);
}

}  // namespace
}  // namespace walrelay::relay
