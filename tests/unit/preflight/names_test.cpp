#include "preflight/names.hpp"

#include "core/finding.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace walrelay::preflight {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class Names : public testing::Test {
protected:
    Names() {
        facts_.tables.resize(1);
        facts_.tables[0].table = {"public", "outbox"};
        facts_.tables[0].owner = "app";
        facts_.publication.emplace();
    }
    std::vector<finding> found(output_plugin plugin) {
        findings_list found;
        look_at_names(wanted_, facts_, plugin, found);
        return found.take();
    }

    expectations wanted_{"relay", "walrelay", {}, "OUTBOX", {{.table = {"public", "outbox"}}}};
    postgres_facts facts_;
};

TEST_F(Names, ThatNobodyElseCanTakeAreFine) {
    EXPECT_THAT(found(output_plugin::wal2json), IsEmpty());
    EXPECT_THAT(found(output_plugin::pgoutput), IsEmpty());
}

TEST_F(Names, ThatOthersCanTakeForbidWal2json) {
    facts_.open_names = {{"public", "PUBLIC, somebody", false}};
    auto all = found(output_plugin::wal2json);
    ASSERT_THAT(all, SizeIs(1));
    EXPECT_EQ(all[0].severity, finding_severity::error);
    EXPECT_THAT(all[0].remedy,
                HasSubstr(R"(REVOKE CREATE ON SCHEMA "public" FROM PUBLIC, somebody;)"));
    EXPECT_THAT(found(output_plugin::pgoutput), IsEmpty()) << "it lists its tables";
    facts_.publication->for_all_tables = true;
    all = found(output_plugin::pgoutput);
    ASSERT_THAT(all, SizeIs(1));
    EXPECT_EQ(all[0].severity, finding_severity::warning);
}

TEST_F(Names, InASchemaOfSomebodyElseAreGivenBack) {
    facts_.open_names = {{"public", "somebody", true}};
    const auto all = found(output_plugin::wal2json);
    ASSERT_THAT(all, SizeIs(1));
    EXPECT_THAT(all[0].remedy, HasSubstr(R"(ALTER SCHEMA "public" OWNER TO "app";)"));
}

TEST_F(Names, ThatSomebodyHasTakenStopEveryRelay) {
    facts_.taken_tables = {{{"public", "outbox"}, "somebody", "app"}};
    for (const auto plugin : {output_plugin::wal2json, output_plugin::pgoutput}) {
        const auto all = found(plugin);
        ASSERT_THAT(all, SizeIs(1));
        EXPECT_EQ(all[0].severity, finding_severity::error);
        EXPECT_THAT(all[0].remedy, HasSubstr("owners - 'public.outbox' WHERE slot = 'relay'"));
    }
}

}  // namespace
}  // namespace walrelay::preflight
