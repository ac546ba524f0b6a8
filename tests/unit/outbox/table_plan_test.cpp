// What of a table's configuration is refused before a row is seen.
#include "outbox/table_plan.hpp"

#include "unit/outbox/sample_row.hpp"

#include <gtest/gtest.h>

namespace walrelay::outbox {
namespace {

std::string complaint_about(const outbox_table& table) {
    const auto plan = make_plan(table);
    if (plan) {
        return {};
    }
    EXPECT_EQ(plan.error().code, errc::configuration_invalid);
    EXPECT_NE(plan.error().remedy, "");
    return plan.error().what;
}

outbox_table with_headers(std::vector<std::pair<std::string, std::string>> headers) {
    auto table = test::usual_table();
    table.headers = std::move(headers);
    return table;
}

TEST(TablePlan, TakesTheDefaults) {
    EXPECT_EQ(complaint_about(test::usual_table()), "");
}

TEST(TablePlan, NamesTheTableAndTheSettingOfABrokenTemplate) {
    auto table = test::usual_table();
    table.message_id = "{id";
    EXPECT_EQ(complaint_about(table),
              "table public.outbox_events: message_id \"{id\" has a stray \"{\" at offset 0");
    EXPECT_EQ(complaint_about(with_headers({{"X-A", "}"}})),
              "table public.outbox_events: header X-A \"}\" has a stray \"}\" at offset 0");
}

TEST(TablePlan, RefusesASubjectThatNatsCannotHave) {
    auto table = test::usual_table();
    table.subject = "events..{id}";
    EXPECT_EQ(complaint_about(table),
              "table public.outbox_events: subject \"events..{id}\" has an empty token");
}

TEST(TablePlan, RefusesAMessageIdThatIsTheSameForAllRows) {
    auto table = test::usual_table();
    table.message_id = "event";
    EXPECT_EQ(complaint_about(table),
              "table public.outbox_events: message_id \"event\" is the same for every row, so that "
              "the broker would take all messages but the first for duplicates");
}

TEST(TablePlan, RefusesATextInAMessageId) {
    auto table = test::usual_table();
    table.message_id = "{key|'none'}";
    EXPECT_EQ(complaint_about(table),
              "table public.outbox_events: message_id \"{key|'none'}\" gives all rows without a "
              "value the same id, so that the broker would take all of their messages but the "
              "first for duplicates");
}

TEST(TablePlan, TakesMembersInHeadersAlone) {
    EXPECT_EQ(complaint_about(with_headers({{"X-Tenant", "{metadata->>'tenant'}"}})), "");
    auto table = test::usual_table();
    table.message_id = "{metadata->>'key'}";
    EXPECT_EQ(complaint_about(table),
              "table public.outbox_events: message_id \"{metadata->>'key'}\" names a member of a "
              "column, which only headers can have");
    table = test::usual_table();
    table.subject = "events.{metadata->>'tenant'}";
    EXPECT_EQ(complaint_about(table),
              "table public.outbox_events: subject \"events.{metadata->>'tenant'}\" names a "
              "member of a column, which only headers can have");
}

TEST(TablePlan, RefusesReservedHeaders) {
    for (const std::string name :
         {"Nats-Msg-Id", "nats-ttl", "X-Nats-Msg-Id", "Walrelay-Position", "walrelay-x"}) {
        EXPECT_EQ(complaint_about(with_headers({{name, "x"}})),
                  "table public.outbox_events: header \"" + name + "\" has a reserved name");
    }
}

TEST(TablePlan, RefusesNamesThatNoHeaderCanHave) {
    for (const std::string name : {"", "a b", "a:b", "a\r\nb", "ü"}) {
        EXPECT_EQ(complaint_about(with_headers({{name, "x"}})),
                  "table public.outbox_events: header \"" + name +
                      "\" is not a name that a header can have");
    }
}

TEST(TablePlan, RefusesAHeaderTwice) {
    EXPECT_EQ(complaint_about(with_headers({{"X-A", "1"}, {"x-a", "2"}})),
              "table public.outbox_events: header \"x-a\" is set twice");
}

TEST(TablePlan, NamesTheSourceOfEventsAsAPath) {
    auto table = test::usual_table();
    EXPECT_EQ(make_plan(table).value().source, "/public/outbox_events");
    table.table = {"My Schema", "a/b?ü"};
    EXPECT_EQ(make_plan(table).value().source, "/My%20Schema/a%2Fb%3F%C3%BC");
}

}  // namespace
}  // namespace walrelay::outbox
