// What a file may not hold: unknown names, wrong types, broken syntax. Exact messages.
#include "config/load.hpp"
#include "unit/config/loading.hpp"

namespace walrelay::config {
namespace {

using testing::ElementsAre;

TEST(TakeFile, SuggestsTheNearestKey) {
    EXPECT_THAT(problems_beside_essentials("[delivery]\nack_timout = \"5s\"\n"),
                ElementsAre("walrelay.toml:6: delivery.ack_timout: is not a known key; fix: "
                            "write ack_timeout, or remove it"));
}

TEST(TakeFile, SuggestsTheSectionWhereAKeyBelongs) {
    EXPECT_THAT(problems_beside_essentials("[nats]\nwindow_bytes = \"1MiB\"\n"),
                ElementsAre("walrelay.toml:6: nats.window_bytes: is not a known key; fix: "
                            "move it to [delivery]"));
}

TEST(TakeFile, ListsTheKeysWhereNoneIsNear) {
    EXPECT_THAT(
        problems_beside_essentials("[log]\nfavourite_colour = \"red\"\n"),
        ElementsAre("walrelay.toml:6: log.favourite_colour: is not a known key; "
                    "fix: remove it; the keys of [log] are level, format, heartbeat, slow"));
}

TEST(TakeFile, NamesUnknownKeysBelowAGroup) {
    EXPECT_THAT(problems_beside_essentials("[nats]\ntls.certificate = \"a\"\n[nats.tsl]\nca = 1\n"),
                ElementsAre("walrelay.toml:6: nats.tls.certificate: is not a known key; "
                            "fix: write tls.cert, or remove it",
                            testing::StartsWith("walrelay.toml:7: nats.tsl: is not a known key")));
}

TEST(TakeFile, ReadsAGroupInEveryFormThatTomlHas) {
    for (const std::string form : {"[nats]\ntls.ca = \"f\"\n", "[nats]\ntls = { ca = \"f\" }\n",
                                   "[nats.tls]\nca = \"f\"\n", "nats.tls.ca = \"f\"\n"}) {
        const auto from = from_file(form + essentials);
        EXPECT_EQ(must_load(from).nats.tls.ca, "f") << form;
    }
}

TEST(TakeFile, ExpectsATableWhereAGroupStands) {
    EXPECT_THAT(problems_beside_essentials("[nats]\ntls = \"ca.pem\"\n"),
                ElementsAre("walrelay.toml:6: nats.tls: expected a table, found a string; "
                            "fix: write its keys, such as tls.ca = \"...\""));
}

TEST(TakeFile, SuggestsTheNearestSection) {
    EXPECT_THAT(problems_beside_essentials("[postgresql]\nslot = \"a\"\n"),
                ElementsAre("walrelay.toml:5: postgresql: is not a known section; fix: "
                            "write [postgres], or remove it"));
}

TEST(TakeFile, ListsTheSectionsWhereNoneIsNear) {
    EXPECT_THAT(
        problems_beside_essentials("[kafka]\n"),
        ElementsAre(
            "walrelay.toml:5: kafka: is not a known section; fix: remove "
            "it; the sections are postgres, nats, delivery, outbox, replay, http, log, traces"));
}

TEST(TakeFile, SaysWhereAKeyOutsideAllSectionsBelongs) {
    EXPECT_THAT(problems_of(from_file("slot = \"a\"\n" + essentials)),
                ElementsAre("walrelay.toml:1: slot: stands outside its section; fix: move "
                            "it to [postgres]"));
}

TEST(TakeFile, ExpectsASectionToBeATable) {
    EXPECT_THAT(problems_of(from_file("nats = \"nats://a\"\n" + essentials)),
                ElementsAre("walrelay.toml:1: nats: expected a section, found a string; "
                            "fix: write [nats] above its keys"));
}

TEST(TakeFile, ExpectsOutboxToBeAListOfTables) {
    for (const std::string form : {"[outbox]\ntable = \"a\"\n", "outbox = [\"a\"]\n"}) {
        auto from = from_file(form);
        from.flags = {{"postgres.conninfo", "dbname=app"}};
        EXPECT_THAT(problems_of(from),
                    ElementsAre("walrelay.toml:1: outbox: expected a list of tables; fix: "
                                "write [[outbox]] above the keys of each table"))
            << form;
    }
}

TEST(TakeFile, TellsASyntaxErrorAloneWithItsLine) {
    EXPECT_THAT(problems_of(from_file("[postgres]\nslot = \"a\"\nslot = \"b\"\n[typo]\n")),
                ElementsAre("walrelay.toml:3: is not TOML: Error while parsing key-value pair: "
                            "cannot redefine existing string 'slot'; fix: correct the "
                            "line; nothing of the file could be used"));
}

TEST(TakeFile, CutsASyntaxErrorBeforeItQuotesAValue) {
    EXPECT_THAT(problems_of(from_file("a = 1\nb = trap\n")),
                ElementsAre("walrelay.toml:2: is not TOML: Error while parsing boolean: expected "
                            "...; fix: text stands in double quotes: b = \"...\"; nothing of the "
                            "file could be used"));
}

TEST(TakeFile, NamesTheQuotesThatLack) {
    const auto fix_of = [](const std::string& line) {
        const auto told = problems_of(from_file(line + "\n")).front();
        return told.substr(told.find("; fix: ") + 7);
    };
    EXPECT_EQ(fix_of("slot = walrelay"),
              "text stands in double quotes: slot = \"...\"; nothing of the file could be used");
    EXPECT_EQ(fix_of("  urls=[nats://a:4222]"),
              "text stands in double quotes: urls = [\"...\"]; nothing of the file could be used");
    EXPECT_EQ(fix_of("ack_timeout = 5s"),
              "text stands in double quotes: ack_timeout = \"...\"; nothing of the file could be "
              "used");
    EXPECT_EQ(fix_of("slot = \"open"), "correct the line; nothing of the file could be used");
    EXPECT_EQ(fix_of("[postgres"), "correct the line; nothing of the file could be used");
}

TEST(TakeFile, StillJudgesVariablesAndFlagsBesideASyntaxError) {
    auto from = from_file("[\n");
    from.flags = {{"log.level", "loud"}};
    EXPECT_THAT(problems_of(from),
                ElementsAre(testing::StartsWith("walrelay.toml:1: is not TOML"),
                            testing::StartsWith("--log-level: invalid value \"loud\" for log")));
}

TEST(TakeFile, NamesTheTypeThatItExpected) {
    EXPECT_THAT(
        problems_beside_essentials("[nats]\nurls = \"nats://a\"\nstream = 1.5\nreplicas = \"3\"\n"
                                   "[delivery]\nack_timeout = 5\nwindow_bytes = 65536\n"
                                   "[log]\nlevel = 2020-01-01\n"),
        ElementsAre("walrelay.toml:6: nats.urls: expected a list of strings, found a string; "
                    "fix: write it in brackets, such as [\"a\", \"b\"]",
                    "walrelay.toml:7: nats.stream: expected a string, found a float; fix: "
                    "write it in quotes",
                    "walrelay.toml:8: nats.replicas: expected an integer, found a string; "
                    "fix: write a whole number from 1 to 5",
                    "walrelay.toml:10: delivery.ack_timeout: expected a duration, found an "
                    "integer; fix: write a number and a unit, such as \"250ms\", \"5s\" or "
                    "\"7d\"",
                    "walrelay.toml:11: delivery.window_bytes: expected a byte size, found an "
                    "integer; fix: write a number and a unit, such as \"64KiB\", \"32MiB\" "
                    "or \"1GiB\"",
                    "walrelay.toml:13: log.level: expected a string, found a date; fix: "
                    "write it in quotes"));
}

TEST(TakeFile, NamesTheLineOfTheElementThatIsWrong) {
    EXPECT_THAT(
        problems_beside_essentials("[nats]\nurls = [\n  \"nats://a\",\n  5,\n  \"b\",\n]\n"),
        ElementsAre("walrelay.toml:8: nats.urls: expected a string, found an integer; "
                    "fix: write it in quotes",
                    "walrelay.toml:9: nats.urls: an address is not of the form "
                    "nats://host:port or tls://host:port; fix: write it like "
                    "nats://127.0.0.1:4222, without blanks"));
}

TEST(TakeFile, KeepsAMessageOnOneLine) {
    const auto lines = problems_beside_essentials("[log]\n\"a\\nb\" = 1\nlevel = \"x\\ty\"\n");
    ASSERT_EQ(lines.size(), 2U);
    EXPECT_THAT(lines[0], testing::StartsWith("walrelay.toml:6: log.a\\x0ab: is not a known key"));
    EXPECT_THAT(lines[1], testing::HasSubstr("invalid value \"x\\x09y\" for log.level"));
}

}  // namespace
}  // namespace walrelay::config
