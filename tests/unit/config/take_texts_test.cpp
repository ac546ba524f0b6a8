// Variables and flags: names, lists, tables, and the one table that they may serve.
#include "config/load.hpp"
#include "unit/config/loading.hpp"

namespace walrelay::config {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

TEST(TakeTexts, ReadsEachKindOfValueFromAVariable) {
    const auto loaded = must_load(from_variables({{"WALRELAY_NATS_URLS", "nats://a, nats://b"},
                                                  {"WALRELAY_NATS_TLS_CA", "ca.pem"},
                                                  {"WALRELAY_NATS_REPLICAS", "3"},
                                                  {"WALRELAY_DELIVERY_ACK_TIMEOUT", "2m"},
                                                  {"WALRELAY_DELIVERY_WINDOW_BYTES", "1MB"},
                                                  {"WALRELAY_LOG_FORMAT", "json"}}));
    EXPECT_THAT(loaded.nats.urls, ElementsAre("nats://a", "nats://b"));
    EXPECT_EQ(loaded.nats.tls.ca, "ca.pem");
    EXPECT_EQ(loaded.nats.replicas, 3);
    EXPECT_EQ(loaded.delivery.ack_timeout, std::chrono::minutes(2));
    EXPECT_EQ(loaded.delivery.window_bytes, byte_size{1'000'000});
    EXPECT_EQ(loaded.log.format, log_format::json);
}

TEST(TakeTexts, ReadsTablesFromAVariableAsTheFileDoes) {
    const auto loaded =
        must_load(from_variables({{"WALRELAY_OUTBOX_COLUMNS", R"({ id = "event_id" })"},
                                  {"WALRELAY_OUTBOX_HEADERS", R"({ Tenant = "{tenant}" })"}}));
    EXPECT_EQ(loaded.outbox[0].columns.id, "event_id");
    EXPECT_THAT(loaded.outbox[0].headers, ElementsAre(Pair("Tenant", "{tenant}")));
}

TEST(TakeTexts, RefusesATableThatIsNone) {
    for (const std::string text : {"id=event_id", "", "5", "{}\nother = 1"}) {
        EXPECT_THAT(problems_of(from_variables({{"WALRELAY_OUTBOX_COLUMNS", text}})),
                    ElementsAre("WALRELAY_OUTBOX_COLUMNS: outbox.columns: is not an inline table "
                                "of TOML; fix: write it as in the file, such as "
                                "{ name = \"text\" }"))
            << text;
    }
}

TEST(TakeTexts, NamesTheVariableOfAWrongValue) {
    EXPECT_THAT(problems_of(from_variables({{"WALRELAY_DELIVERY_ACK_TIMEOUT", "5 parsecs"}})),
                ElementsAre("WALRELAY_DELIVERY_ACK_TIMEOUT: delivery.ack_timeout: \"5 parsecs\" is "
                            "not a duration; fix: write a number and a unit, such as "
                            "\"250ms\", \"5s\" or \"7d\""));
}

TEST(TakeTexts, NamesTheFlagOfAWrongValue) {
    EXPECT_THAT(
        problems_of(
            {std::nullopt, "", {}, {{"postgres.conninfo", "dbname=app"}, {"outbox.table", "a b"}}}),
        ElementsAre("--table: outbox.table: \"a b\" is not the name of a table; "
                    "fix: write schema.table, and double quotes around a part that needs "
                    "them in SQL: public.\"My Table\""));
}

TEST(TakeTexts, NamesTheKeyOfAValueThatHasNoFlagOfItsOwn) {
    auto from = from_variables({});
    from.flags["nats.replicas"] = "many";
    EXPECT_THAT(problems_of(from),
                ElementsAre("flag nats.replicas: nats.replicas: \"many\" is not a whole number; "
                            "fix: write a whole number from 1 to 5"));
}

TEST(TakeTexts, RefusesAFlagThatStandsForNoKey) {
    auto from = from_variables({});
    from.flags["nats.nothing"] = "1";
    EXPECT_THAT(problems_of(from),
                ElementsAre("flag nats.nothing: is not the name of a setting; fix: "
                            "remove it"));
}

TEST(TakeTexts, SuggestsTheNearestVariable) {
    EXPECT_THAT(problems_of(from_variables({{"WALRELAY_NATS_URL", "nats://a"}})),
                ElementsAre("WALRELAY_NATS_URL: is not the name of a setting; fix: set "
                            "WALRELAY_NATS_URLS in its place, or unset it"));
}

TEST(TakeTexts, SaysHowVariablesAreNamedWhereNoneIsNear) {
    EXPECT_THAT(
        problems_of(from_variables({{"WALRELAY_X", "1"}})),
        ElementsAre("WALRELAY_X: is not the name of a setting; fix: unset it; the names are "
                    "WALRELAY_<SECTION>_<KEY>, see docs/configuration.md"));
}

TEST(TakeTexts, LeavesAloneWhatKubernetesSetsForAService) {
    EXPECT_THAT(problems_of(from_variables({{"WALRELAY_SERVICE_HOST", "10.0.0.1"},
                                            {"WALRELAY_SERVICE_PORT_HTTP", "8460"},
                                            {"WALRELAY_PORT", "tcp://10.0.0.1:8460"},
                                            {"WALRELAY_PORT_8460_TCP_ADDR", "10.0.0.1"}})),
                IsEmpty());
}

TEST(TakeTexts, AddsToTheOneTableOfTheFile) {
    auto from = from_file(essentials + "subject = \"a.{id}\"\n");
    from.variables = {{"WALRELAY_OUTBOX_BODY", "payload"}};
    from.flags = {{"outbox.table", "other.events"}};
    const auto loaded = must_load(from);
    ASSERT_EQ(loaded.outbox.size(), 1U);
    EXPECT_EQ(loaded.outbox[0].table, (table_name{"other", "events"}));
    EXPECT_EQ(loaded.outbox[0].subject, "a.{id}");
    EXPECT_EQ(loaded.outbox[0].body, body_format::payload);
}

TEST(TakeTexts, RefusesAVariableThatCouldMeanEitherOfTwoTables) {
    auto from = from_file(essentials + "[[outbox]]\ntable = \"second\"\n");
    from.variables = {{"WALRELAY_OUTBOX_BODY", "payload"}};
    EXPECT_THAT(problems_of(from),
                ElementsAre("WALRELAY_OUTBOX_BODY: outbox.body: is meant for a single [[outbox]] "
                            "entry, but the file has 2; fix: set it in the entry of the "
                            "file that it is meant for"));
}

TEST(TakeTexts, RefusesAnEmptyListAndEmptyElements) {
    EXPECT_THAT(problems_of(from_variables({{"WALRELAY_NATS_URLS", " "}})),
                ElementsAre("WALRELAY_NATS_URLS: nats.urls: is empty; fix: give at least "
                            "one, or remove the key"));
    EXPECT_EQ(problems_of(from_variables({{"WALRELAY_NATS_URLS", "nats://a,"}})).size(), 1U);
}

}  // namespace
}  // namespace walrelay::config
