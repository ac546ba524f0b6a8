#include "preflight/guards.hpp"

#include "core/finding.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace walrelay::preflight {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::StartsWith;

class GuardsPreflight : public testing::Test {
protected:
    GuardsPreflight() {
        facts_.table = {"public", "outbox"};
        facts_.exists = true;
    }
    std::vector<finding> findings() {
        findings_list found;
        all_.role = "relay";
        look_at_guards(wanted_, facts_, all_, found);
        return found.take();
    }

    outbox_table wanted_{.table = {"public", "outbox"}};
    table_facts facts_;
    postgres_facts all_;
};

TEST_F(GuardsPreflight, FindsNothingWhereNobodyElseIsThere) {
    wanted_.on_published = "status = 'sent'";
    EXPECT_THAT(findings(), IsEmpty());
}

TEST_F(GuardsPreflight, RowsThatAreHiddenFromAWriteBackAreAnError) {
    facts_.hidden_from = {"UPDATE"};
    EXPECT_THAT(findings(), IsEmpty()) << "nothing is updated";
    wanted_.on_published = "status = 'sent'";
    const auto found = findings();
    ASSERT_THAT(found, SizeIs(1));
    EXPECT_EQ(found[0].severity, finding_severity::error);
    EXPECT_THAT(found[0].what, HasSubstr("can hide rows from UPDATE of role relay"));
    EXPECT_THAT(found[0].remedy, HasSubstr("CREATE POLICY walrelay ON \"public\".\"outbox\" TO "
                                           "\"relay\" USING (true);"));
    wanted_.on_published.clear();
    wanted_.delete_after = std::chrono::seconds(0);
    EXPECT_THAT(findings(), IsEmpty());
    facts_.hidden_from = {"SELECT", "DELETE"};
    EXPECT_EQ(findings()[0].severity, finding_severity::error);
}

TEST_F(GuardsPreflight, RowsThatAreHiddenFromReadingAloneAreAWarning) {
    facts_.hidden_from = {"SELECT"};
    const auto found = findings();
    ASSERT_THAT(found, SizeIs(1));
    EXPECT_EQ(found[0].severity, finding_severity::warning);
    wanted_.on_dead_letter = "status = 'dead'";
    EXPECT_EQ(findings()[0].severity, finding_severity::error)
        << "an UPDATE does not find what it cannot see";
}

TEST_F(GuardsPreflight, WhoMayAttachTriggersIsNamedWhereWalrelayWrites) {
    facts_.trigger_makers = {"PUBLIC", "app"};
    EXPECT_THAT(findings(), IsEmpty());
    wanted_.delete_after = std::chrono::seconds(60);
    const auto found = findings();
    ASSERT_THAT(found, SizeIs(1));
    EXPECT_EQ(found[0].severity, finding_severity::warning);
    EXPECT_THAT(found[0].what, HasSubstr("PUBLIC, app may attach triggers to table public.outbox"));
    EXPECT_THAT(found[0].remedy,
                AllOf(StartsWith("REVOKE TRIGGER ON \"public\".\"outbox\" FROM PUBLIC, app;"),
                      HasSubstr("postgres.writer")));
}

TEST_F(GuardsPreflight, CodeOfOthersIsAnErrorWhereWalrelayWrites) {
    facts_.foreign_code = {"constraint judged (function theirs.judge(integer))"};
    EXPECT_THAT(findings(), IsEmpty()) << "nothing is changed";
    wanted_.delete_after = std::chrono::seconds(60);
    const auto found = findings();
    ASSERT_THAT(found, SizeIs(1));
    EXPECT_EQ(found[0].severity, finding_severity::error);
    EXPECT_THAT(found[0].what, HasSubstr("constraint judged (function theirs.judge(integer))"));
}

TEST_F(GuardsPreflight, TriggersOfOthersAreNamedWhereWalrelayWrites) {
    facts_.foreign_triggers = {"audit"};
    EXPECT_THAT(findings(), IsEmpty());
    wanted_.on_published = "status = 'sent'";
    const auto found = findings();
    ASSERT_THAT(found, SizeIs(1));
    EXPECT_EQ(found[0].severity, finding_severity::error);
    EXPECT_THAT(found[0].what, HasSubstr("triggers of table public.outbox (audit) run functions"));
}

TEST_F(GuardsPreflight, CodeOfOthersMayRunAsARoleThatMayDoNothingElse) {
    facts_.foreign_code = {"constraint judged"};
    facts_.foreign_triggers = {"audit"};
    facts_.trigger_makers = {"app"};
    wanted_.on_published = "status = 'sent'";
    all_.writer = writer_facts{.role = "writer"};
    EXPECT_THAT(findings(), IsEmpty());
    all_.writer->powers = {"has REPLICATION"};
    const auto found = findings();
    ASSERT_THAT(found, SizeIs(3));
    EXPECT_EQ(found[1].code.text(), "triggers_of_others");
    EXPECT_EQ(found[2].code.text(), "code_of_others");
    EXPECT_EQ(found[2].severity, finding_severity::error);
    EXPECT_THAT(found[2].what, HasSubstr("role writer of postgres.writer, which has REPLICATION"));
}

TEST_F(GuardsPreflight, CodeOfOthersThatRunsWhereRowsAreReadIsAnErrorWhoeverWrites) {
    facts_.foreign_reading = {"policy tenant"};
    all_.writer = writer_facts{.role = "writer"};
    const auto found = findings();
    ASSERT_THAT(found, SizeIs(1));
    EXPECT_EQ(found[0].severity, finding_severity::error);
    EXPECT_THAT(found[0].what, HasSubstr("where walrelay reads rows"));
}

TEST_F(GuardsPreflight, RowsThatAreHiddenFromTheWriterAreAnError) {
    wanted_.on_published = "status = 'sent'";
    facts_.hidden_from = {"UPDATE"};
    all_.writer = writer_facts{.role = "writer"};
    EXPECT_THAT(findings(), IsEmpty());
    facts_.hidden_from_writer = {"UPDATE"};
    ASSERT_THAT(findings(), SizeIs(1));
    EXPECT_THAT(findings()[0].remedy, HasSubstr("TO \"writer\" USING (true);"));
}

TEST_F(GuardsPreflight, DefaultsOfOthersCountWhereTheConfigurationSaysDefault) {
    facts_.foreign_defaults = {"default of column status"};
    wanted_.on_published = "status = 'sent'";
    EXPECT_THAT(findings(), IsEmpty());
    wanted_.on_published = "status = Default";
    ASSERT_THAT(findings(), SizeIs(1));
    EXPECT_EQ(findings()[0].code.text(), "code_of_others");
}

TEST_F(GuardsPreflight, StrongWriterIsNamed) {
    expectations wanted;
    wanted.tables = {wanted_};
    const auto named = [&] {
        findings_list found;
        look_at_writer(wanted, all_, found);
        return found.take();
    };
    EXPECT_THAT(named(), IsEmpty());
    all_.writer = writer_facts{.role = "writer"};
    EXPECT_THAT(named(), IsEmpty());
    all_.writer->powers = {"has REPLICATION"};
    ASSERT_THAT(named(), SizeIs(1));
    EXPECT_EQ(named()[0].severity, finding_severity::warning);
    EXPECT_EQ(named()[0].code.text(), "writer_too_strong");
}

TEST(MessageWritersPreflight, NamesEverybody) {
    outbox_table wanted;
    wanted.message_prefix = "outbox";
    postgres_facts all;
    all.version_number = 150000;
    findings_list none;
    all.message_writers = {"app"};
    look_at_message_writers(wanted, all, none);
    EXPECT_THAT(none.take(), IsEmpty());
    all.message_writers = {"PUBLIC", "app"};
    findings_list some;
    look_at_message_writers(wanted, all, some);
    const auto found = some.take();
    ASSERT_THAT(found, SizeIs(1));
    EXPECT_EQ(found[0].severity, finding_severity::warning);
    EXPECT_THAT(found[0].remedy, HasSubstr("pg_logical_emit_message(boolean, text, text), "));
    all.version_number = 170000;
    findings_list newer;
    look_at_message_writers(wanted, all, newer);
    EXPECT_THAT(newer.take()[0].remedy, HasSubstr("(boolean, text, text, boolean), "));
}

}  // namespace
}  // namespace walrelay::preflight
