// What must hold between settings.
#include "config/rules.hpp"

#include "unit/config/loading.hpp"

namespace walrelay::config {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(Rules, AllowOneWayToSignIn) {
    EXPECT_THAT(problems_beside_essentials("[nats]\ncredentials = \"a\"\nuser = \"b\"\n"
                                           "token_file = \"c\"\n"),
                ElementsAre("walrelay.toml:7: nats.user: is a second way to sign in, beside "
                            "nats.credentials; fix: keep one of them",
                            "walrelay.toml:8: nats.token_file: is a second way to sign in, beside "
                            "nats.credentials; fix: keep one of them"));
}

TEST(Rules, AllowOnePlaceForThePasswordOfTheWriter) {
    EXPECT_THAT(problems_of(from_file("[postgres]\nconninfo = \"dbname=app\"\n"
                                      "writer_password_file = \"a\"\n"
                                      "writer_password_command = \"b\"\n"
                                      "[[outbox]]\ntable = \"public.events\"\n")),
                ElementsAre("walrelay.toml:4: postgres.writer_password_command: is set beside "
                            "postgres.writer_password_file; fix: leave one of the two out",
                            "walrelay.toml:3: postgres.writer_password_file: is set without "
                            "postgres.writer; fix: set postgres.writer too, or remove it",
                            "walrelay.toml:4: postgres.writer_password_command: is set without "
                            "postgres.writer; fix: set postgres.writer too, or remove it"));
}

TEST(Rules, LetAnEmptyTextTakeAWayToSignInBack) {
    auto from = from_file(essentials + "[nats]\ncredentials = \"a\"\n");
    from.variables = {{"WALRELAY_NATS_CREDENTIALS", ""}, {"WALRELAY_NATS_NKEY_SEED", "b"}};
    EXPECT_THAT(problems_of(from), IsEmpty());
}

TEST(Rules, WantAUserForAPassword) {
    EXPECT_THAT(problems_beside_essentials("[nats]\npassword_file = \"a\"\n"),
                ElementsAre("walrelay.toml:6: nats.password_file: is set without nats.user; "
                            "fix: set nats.user too, or remove it"));
}

TEST(Rules, AllowAUserWithoutAPassword) {
    EXPECT_THAT(problems_beside_essentials("[nats]\nuser = \"a\"\n"), IsEmpty());
}

TEST(Rules, WantCertificateAndKeyTogether) {
    EXPECT_THAT(problems_beside_essentials("[nats]\ntls.cert = \"a\"\n"),
                ElementsAre("walrelay.toml:6: nats.tls.cert: is set without nats.tls.key; "
                            "fix: set nats.tls.key too, or remove it"));
    EXPECT_THAT(problems_beside_essentials("[nats]\ntls.key = \"a\"\n"),
                ElementsAre("walrelay.toml:6: nats.tls.key: is set without nats.tls.cert; "
                            "fix: set nats.tls.cert too, or remove it"));
}

TEST(Rules, DoNotBlameAKeyForAnotherThatCouldNotBeRead) {
    EXPECT_EQ(problems_beside_essentials("[nats]\ntls.cert = \"a\"\ntls.key = 5\n").size(), 1U);
    EXPECT_EQ(problems_beside_essentials("[delivery]\nbackoff_initial = \"1m\"\nbackoff_max = 5\n")
                  .size(),
              1U);
}

TEST(Rules, LeaveRoomForTheTrailInTheNameOfItsSlot) {
    const auto with_slot = [](std::size_t letters, const std::string& keep) {
        return problems_of(from_file(
            "[postgres]\nconninfo = \"dbname=app\"\nslot = \"" + std::string(letters, 's') +
            "\"\n[[outbox]]\ntable = \"public.events\"\n[replay]\n" + keep));
    };
    EXPECT_THAT(with_slot(57, "keep = \"24h\"\n"), IsEmpty());
    EXPECT_THAT(with_slot(58, ""), IsEmpty());
    EXPECT_THAT(with_slot(58, "keep = \"24h\"\n"),
                ElementsAre(testing::HasSubstr("replay.keep: asks for a trail")));
}

TEST(Rules, KeepTheInboxOutOfTheStream) {
    for (const auto* subjects : {"'relay.>'", "'relay.*.*.*'", "'events.>', '>'", "'*.>'"}) {
        const auto text =
            std::string("[nats]\ninbox_prefix = \"relay.in\"\nsubjects = [") + subjects + "]\n";
        EXPECT_THAT(problems_beside_essentials(text),
                    ElementsAre(testing::HasSubstr("nats.inbox_prefix: the stream's subject")))
            << subjects;
    }
    for (const auto* subjects : {"'relay'", "'relay.in'", "'relay.*'", "'relay.out.>'", "'in.>'"}) {
        const auto text =
            std::string("[nats]\ninbox_prefix = \"relay.in\"\nsubjects = [") + subjects + "]\n";
        EXPECT_THAT(problems_beside_essentials(text), IsEmpty()) << subjects;
    }
}

TEST(Rules, KeepTheFirstWaitBelowTheLongest) {
    EXPECT_THAT(problems_beside_essentials("[delivery]\nbackoff_initial = \"1m\"\n"),
                ElementsAre("walrelay.toml:6: delivery.backoff_initial: the first wait of 1m is "
                            "longer than the longest of 30s; fix: make backoff_initial at "
                            "most backoff_max"));
}

TEST(Rules, BlameTheLongestWaitWhereOnlyItWasSet) {
    EXPECT_THAT(problems_beside_essentials("[delivery]\nbackoff_max = \"50ms\"\n"),
                ElementsAre("walrelay.toml:6: delivery.backoff_max: the first wait of 100ms is "
                            "longer than the longest of 50ms; fix: make backoff_initial at "
                            "most backoff_max"));
}

TEST(Rules, AllowTheFirstWaitToBeTheLongest) {
    EXPECT_THAT(problems_beside_essentials("[delivery]\nbackoff_max = \"100ms\"\n"), IsEmpty());
}

TEST(Rules, WantATableInEachEntry) {
    EXPECT_THAT(problems_beside_essentials("\n[[outbox]]\nbody = \"payload\"\n"),
                ElementsAre("walrelay.toml:6: outbox.table: is not set; fix: write "
                            "table = \"public.outbox_events\" in this entry"));
}

TEST(Rules, AllowNoTableTwice) {
    EXPECT_THAT(problems_beside_essentials("[[outbox]]\ntable = 'Events'\n"),
                ElementsAre("walrelay.toml:6: outbox.table: \"public.events\" is there already, "
                            "see walrelay.toml:4; fix: keep one [[outbox]] entry for each "
                            "table"));
}

TEST(Rules, AllowTablesThatDifferInCaseOnly) {
    EXPECT_THAT(problems_beside_essentials("[[outbox]]\ntable = '\"Events\"'\n"), IsEmpty());
}

TEST(Rules, TakeAPrefixInPlaceOfATable) {
    const auto loaded = must_load_beside_essentials("[[outbox]]\nmessage_prefix = \"orders\"\n");
    EXPECT_TRUE(loaded.outbox[1].is_tableless());
    EXPECT_EQ(loaded.outbox[1].table, message_source("orders"));
    EXPECT_FALSE(loaded.outbox[0].is_tableless());
}

TEST(Rules, AllowNoPrefixTwiceAndNoneBesideATable) {
    EXPECT_THAT(problems_beside_essentials("[[outbox]]\nmessage_prefix = \"a\"\n"
                                           "[[outbox]]\nmessage_prefix = \"a\"\n"),
                ElementsAre("walrelay.toml:8: outbox.message_prefix: \"pg_logical_message.a\" is "
                            "there already, see walrelay.toml:6; fix: keep one [[outbox]] "
                            "entry for each table"));
    EXPECT_THAT(problems_beside_essentials("message_prefix = \"a\"\n"),
                ElementsAre("walrelay.toml:4: outbox.table: is set beside outbox.message_prefix, "
                            "whose rows are in no table; fix: remove one of the two"));
}

TEST(Rules, RefuseWhatAsksForATableWhereThereIsNone) {
    const std::string text =
        "[[outbox]]\nmessage_prefix = \"a\"\non_published = \"b = 1\"\ndelete_after = \"0s\"\n"
        "[delivery]\non_slot_loss = \"heal\"\n";
    auto from = from_file(essentials + text);
    from.flags = {{"postgres.snapshot", "all"}};
    const auto problems = problems_of(from);
    ASSERT_EQ(problems.size(), 4U);
    EXPECT_THAT(problems[0], testing::HasSubstr("outbox.on_published: is set beside"));
    EXPECT_THAT(problems[1], testing::HasSubstr("outbox.delete_after: is set beside"));
    EXPECT_THAT(problems[2], testing::HasSubstr("delivery.on_slot_loss: \"heal\" does not go"));
    EXPECT_THAT(problems[3], testing::HasSubstr("postgres.snapshot: a snapshot does not go"));
    from.variables = {{"WALRELAY_POSTGRES_SNAPSHOT", "some"}};
    EXPECT_EQ(problems_of(from).size(), 5U) << "the flag is in force, whatever the variable says";
}

}  // namespace
}  // namespace walrelay::config
