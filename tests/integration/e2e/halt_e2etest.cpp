// A gap stops every relay of the slot until somebody decides: neither a restart nor a standby goes
// on past it.
#include "integration/e2e/halted_slot.hpp"
#include "support/eventually.hpp"

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <sstream>

namespace walrelay::test {
namespace {

TEST_P(Halt, OutlastsARestartUntilTheRowsAreGivenUp) {
    halt();
    EXPECT_TRUE(says(kept("reason"), "stands at LSN"));
    EXPECT_TRUE(says(kept("fix"), "walrelay resume"));
    const auto position = bench.slot("confirmed_flush_lsn");
    bench.execute(insert_event(3));
    for (int again = 0; again < 2; ++again) {
        const auto refused = bench.command({"run"});
        EXPECT_EQ(refused.exit_code, 3);
        EXPECT_TRUE(says(refused.errors, kept("reason")));
        EXPECT_TRUE(says(refused.errors, "fix: "));
    }
    EXPECT_EQ(bench.slot("confirmed_flush_lsn"), position);
    const auto checked = bench.command({"check"});
    EXPECT_EQ(checked.exit_code, 1);
    EXPECT_TRUE(says(checked.output, kept("reason")));
    EXPECT_TRUE(says(checked.output, "walrelay resume"));

    const auto given_up = bench.command({"resume", "--give-up"});
    EXPECT_EQ(given_up.exit_code, 0) << given_up.errors;
    EXPECT_TRUE(says(given_up.output, kept("reason")));
    EXPECT_TRUE(says(given_up.output, "1 row is in neither the stream nor the dead letters"));
    EXPECT_TRUE(says(given_up.output, event_id(2)));
    EXPECT_FALSE(says(given_up.output, event_id(3))) << "the slot brings it";
    const auto listed = bench.command({"dead-letter", "list", "--given-up"});
    EXPECT_TRUE(says(listed.output, event_id(2)));
    EXPECT_FALSE(says(listed.output, event_id(3)));
    EXPECT_EQ(bench.command({"check"}).exit_code, 0);
    bench.start();
    ASSERT_TRUE(bench.wait_for_messages(2));
    EXPECT_TRUE(is_forgotten());
    EXPECT_TRUE(says(bench.relay().log(), "gave the missing rows up"));
    bench.stop();
    EXPECT_EQ(bench.events().back().id, event_id(3));
    EXPECT_EQ(bench.command({"verify"}).exit_code, 0);
    EXPECT_TRUE(says(bench.command({"resume"}).output, "is not halted"));
}

/// The slot is there: what it does not send is not given up by a command that makes none.
TEST_P(Halt, OutlastsInitOfANewSlotThatIsThereAlready) {
    halt();
    const auto position = bench.slot("confirmed_flush_lsn");
    const auto done = bench.command({"init", "--new-slot"});
    EXPECT_EQ(done.exit_code, 0) << done.errors;
    EXPECT_TRUE(says(done.errors, "is ended by walrelay resume"));
    EXPECT_EQ(kept("count(*)"), "1");
    EXPECT_EQ(bench.slot("confirmed_flush_lsn"), position);
    const auto refused = bench.command({"run"});
    EXPECT_EQ(refused.exit_code, 3);
    EXPECT_TRUE(says(refused.errors, kept("reason")));
    EXPECT_EQ(bench.command({"resume"}).exit_code, 1) << "row 2 is missing still";
}

TEST_P(Halt, GivesARowUpHoweverLongItsIdIs) {
    bench.execute("ALTER TABLE outbox_events ALTER event_type TYPE text");
    bench.set_outbox(
        "[[outbox]]\ntable = 'public.outbox_events'\nsubject = '%.all'\n"
        "message_id = '{event_type}-{id}'");
    halt();
    // No index takes it, in whatever form.
    bench.execute(
        "UPDATE outbox_events SET event_type = (SELECT string_agg(md5(each::text), '') FROM "
        "generate_series(1, 200) AS each) WHERE version = 2");
    ASSERT_EQ(bench.command({"resume", "--give-up"}).exit_code, 0);
    const auto verified = bench.command({"verify"});
    EXPECT_EQ(verified.exit_code, 0) << verified.output;
}

TEST_P(Halt, PlainResumeGivesNoRowUp) {
    halt();
    bench.execute(insert_event(3));
    const auto refused = bench.command({"resume"});
    EXPECT_EQ(refused.exit_code, 1);
    EXPECT_TRUE(says(refused.output, event_id(2)));
    EXPECT_TRUE(says(refused.output, "walrelay resume --heal"));
    EXPECT_EQ(kept("decision IS NULL"), "t");
    resume_blindly();
    EXPECT_EQ(kept("decision"), "look");
    const auto again = bench.command({"run"});
    EXPECT_EQ(again.exit_code, 3);
    EXPECT_TRUE(says(again.errors, event_id(2)));
    EXPECT_EQ(kept("coalesce(decided_at >= halted_at, false)"), "f");
    EXPECT_TRUE(says(kept("reason"), event_id(2)));
}

/// It was stored while the server's clock was ahead.
TEST_P(Halt, IsGivenUpAlsoWhereItsTimeIsAheadOfTheClock) {
    halt();
    bench.execute(insert_event(3));
    bench.execute("UPDATE walrelay.halt SET halted_at = halted_at + interval '1 hour'");
    ASSERT_EQ(bench.command({"resume", "--give-up"}).exit_code, 0);
    bench.start();
    ASSERT_TRUE(bench.wait_for_messages(2));
    EXPECT_TRUE(is_forgotten());
    EXPECT_TRUE(says(bench.relay().log(), "gave the missing rows up"));
    bench.stop();
}

/// The decision was made while the server's clock was ahead.
TEST_P(Halt, IsNotPassedByTheDecisionOfAnEarlierOneWhoseTimeIsLater) {
    halt();
    ASSERT_EQ(bench.command({"resume", "--give-up"}).exit_code, 0);
    bench.execute(
        "UPDATE walrelay.halt SET halted_at = halted_at + interval '1 hour', decided_at = "
        "decided_at + interval '1 hour'");
    bench.execute(
        "UPDATE walrelay.halt SET halted_at = now(), reason = 'more rows are missing', "
        "resumed_at = NULL");
    const auto refused = bench.command({"run"});
    EXPECT_EQ(refused.exit_code, 3);
    EXPECT_TRUE(says(refused.errors, "more rows are missing"));
}

TEST_P(Halt, IsNotPassedUnseenWhereTheRowsCameBeforeOthersThatAreStored) {
    bench.start();
    for (std::uint64_t row = 1; row <= 3; ++row) {
        bench.execute(insert_event(row));
    }
    ASSERT_TRUE(bench.confirms_messages(3));
    bench.stop();
    bench.broker().delete_message(bench.stream_name(), 2);
    ASSERT_EQ(bench.command({"resume", "--heal"}).exit_code, 0);
    bench.execute("UPDATE walrelay.halt SET reason = 'rows are missing', decision = NULL");
    resume_blindly();
    const auto refused = bench.command({"run"});
    EXPECT_EQ(refused.exit_code, 3);
    EXPECT_TRUE(says(refused.errors, event_id(2)));
    EXPECT_TRUE(says(kept("reason"), event_id(2)));
    EXPECT_EQ(bench.command({"resume"}).exit_code, 1);
    EXPECT_EQ(bench.command({"resume", "--give-up"}).exit_code, 0);
    bench.start();
    bench.execute(insert_event(4));
    ASSERT_TRUE(bench.wait_for_messages(3));
    EXPECT_TRUE(is_forgotten());
}

TEST_P(Halt, IsPassedWhereNothingIsMissingAlthoughNobodyLooked) {
    halt();
    bench.execute("DELETE FROM outbox_events WHERE version = 2");
    resume_blindly();
    bench.start();
    bench.execute(insert_event(3));
    ASSERT_TRUE(bench.wait_for_messages(2));
    EXPECT_TRUE(is_forgotten());
    EXPECT_TRUE(says(bench.relay().log(), "all rows are compared with the stream first"));
}

/// The comparison takes minutes where the tables are large.
TEST_P(Halt, IsLookedAtNoLongerOnceTheRelayIsToStop) {
    halt();
    resume_blindly();
    auto blocker = bench.session();
    blocker.execute("BEGIN; LOCK TABLE outbox_events");
    bench.launch();
    ASSERT_TRUE(eventually(patience, [&] {
        return blocker.value_of(
                   "SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = "
                   "'outbox_events'::regclass") != "0";
    })) << bench.relay().log();
    bench.stop();
    EXPECT_TRUE(says(bench.relay().log(), "search_unfinished"));
    EXPECT_EQ(kept("decision"), "look") << "the next start compares";
}

// What was in the tables before the slot is known of no slot that was made by hand: nothing can be
// compared, and the newest rows decide.
TEST_P(Halt, IsPassedByPlainResumeAlsoWhereTheBeginningOfTheSlotIsNotKnown) {
    halt();
    bench.execute("DELETE FROM outbox_events WHERE version = 2; DELETE FROM walrelay.slot_start");
    const auto resumed = bench.command({"resume"});
    EXPECT_EQ(resumed.exit_code, 0) << resumed.output << resumed.errors;
    EXPECT_EQ(kept("decision"), "look");
    bench.start();
    bench.execute(insert_event(3));
    ASSERT_TRUE(bench.wait_for_messages(2)) << bench.relay().log();
    EXPECT_TRUE(is_forgotten());
}

TEST_P(Halt, IsNotTakenBackByACommandThatCannotLook) {
    halt();
    const auto role = bench.name() + "_blind";
    bench.execute("CREATE ROLE " + role + " LOGIN; GRANT USAGE ON SCHEMA walrelay TO " + role +
                  "; GRANT SELECT, UPDATE ON walrelay.halt TO " + role);
    const auto refused = bench.command(
        {"resume", "--postgres", bench.conninfo() + " user=" + role, "--slot", bench.name()});
    bench.execute("DROP OWNED BY " + role + "; DROP ROLE " + role);
    EXPECT_EQ(refused.exit_code, 3) << refused.output;
    EXPECT_TRUE(says(refused.errors, "nothing was changed, and the slot stays halted"));
    EXPECT_TRUE(says(refused.errors, "walrelay resume --heal"));
    EXPECT_EQ(kept("decision IS NULL"), "t");
}

TEST_P(Halt, EndsWithPlainResumeOnceItsCauseIsFixed) {
    halt();
    bench.execute("DELETE FROM outbox_events WHERE version = 2");
    bench.execute(insert_event(3));
    const auto resumed = bench.command({"resume"});
    EXPECT_EQ(resumed.exit_code, 0) << resumed.output << resumed.errors;
    EXPECT_TRUE(says(resumed.output, "No row is missing"));
    EXPECT_TRUE(
        says(resumed.output, "Resumed slot " + bench.name() + ": the next `walrelay run` goes on"));
    EXPECT_EQ(bench.command({"check"}).exit_code, 0);
    bench.start();
    ASSERT_TRUE(bench.wait_for_messages(2));
    EXPECT_TRUE(is_forgotten());
    bench.stop();
}

TEST_P(Halt, IsHealedOnceWhateverTheConfigurationSays) {
    halt();
    bench.execute(insert_event(3));
    const auto asked = bench.command({"resume", "--heal"});
    EXPECT_EQ(asked.exit_code, 0) << asked.errors;
    EXPECT_TRUE(says(asked.output, "the next `walrelay run` publishes from the tables"));
    EXPECT_EQ(bench.command({"check"}).exit_code, 0);
    bench.start();
    bench.execute(insert_event(4));
    ASSERT_TRUE(bench.wait_for_messages(4));
    EXPECT_TRUE(is_forgotten());
    bench.stop();
    EXPECT_EQ(ids_in_order(), event_ids(1, 4));
    // The next gap is a halt again.
    bench.execute(insert_event(5));
    advance_slot();
    EXPECT_EQ(bench.command({"run"}).exit_code, 3);
}

TEST_P(Halt, IsHealedAlsoWhereTheRelayIsKilledMeanwhile) {
    constexpr std::uint64_t rows = 3000;
    halt();
    bench.execute(insert_events(3, rows));
    advance_slot();
    bench.set_delivery("window_messages = 2");
    ASSERT_EQ(bench.command({"resume", "--heal"}).exit_code, 0);
    bench.launch();
    ASSERT_TRUE(bench.wait_for_messages(100));
    bench.kill_9();
    EXPECT_EQ(kept("decision"), "heal");
    bench.set_delivery("window_messages = 1024");
    bench.start();
    ASSERT_TRUE(bench.wait_for_messages(rows));
    EXPECT_TRUE(is_forgotten());
    bench.stop();
    EXPECT_EQ(ids_in_order(), event_ids(1, rows));
}

TEST_P(Halt, IsHealedByTheRelayThatStays) {
    bench.set_delivery("on_halt = 'stay'");
    bench.start();
    advance_under_the_relay();
    ASSERT_TRUE(bench.relay().wait_for_log("staying", patience));
    ASSERT_EQ(bench.command({"resume", "--heal"}).exit_code, 0);
    ASSERT_TRUE(bench.wait_for_messages(2));
    EXPECT_TRUE(is_forgotten());
    bench.stop();
    EXPECT_EQ(ids_in_order(), event_ids(1, 2));
}

/// What kubernetes/heal-job.yaml gives the program, with the bench's configuration in the place of
/// the pod's.
TEST_P(Halt, IsHealedByTheJobForKubernetes) {
    std::ifstream file(WALRELAY_KUBERNETES "/heal-job.yaml");
    const std::string job{std::istreambuf_iterator<char>(file), {}};
    std::smatch found;
    ASSERT_TRUE(std::regex_search(job, found, std::regex("\n +args: \\[(.*)\\]\n"))) << job;
    std::vector<std::string> arguments;
    std::istringstream list(found[1]);
    for (std::string each; std::getline(list >> std::ws, each, ',');) {
        arguments.push_back(each == "/etc/walrelay/walrelay.toml"
                                ? (bench.folder() / "walrelay.toml").string()
                                : each);
    }
    bench.set_delivery("on_halt = 'stay'");
    bench.start();
    advance_under_the_relay();
    ASSERT_TRUE(bench.relay().wait_for_log("staying", patience));
    const auto elsewhere = std::filesystem::path(bench.folder()) / "elsewhere";
    std::filesystem::create_directory(elsewhere);
    const auto healed = run_to_end(
        {.program = WALRELAY_BINARY, .arguments = arguments, .folder = elsewhere, .name = "job"},
        patience);
    ASSERT_EQ(healed.exit_code, 0) << healed.output << healed.errors;
    ASSERT_TRUE(bench.wait_for_messages(2));
    EXPECT_TRUE(is_forgotten());
    bench.stop();
    EXPECT_EQ(ids_in_order(), event_ids(1, 2));
}

TEST_P(Halt, IsHealedWhereTheSlotIsGone) {
    bench.start();
    bench.execute(insert_events(1, 3));
    ASSERT_TRUE(bench.wait_for_messages(3));
    bench.stop();
    bench.execute("SELECT pg_drop_replication_slot(" + as_literal(bench.name()) + ")");
    bench.execute(insert_events(4, 6));
    const auto gone = bench.command({"run"});
    EXPECT_EQ(gone.exit_code, 3);
    EXPECT_TRUE(says(gone.errors, "walrelay resume --heal"));
    ASSERT_EQ(bench.command({"resume", "--heal"}).exit_code, 0);
    bench.start();
    ASSERT_TRUE(bench.wait_for_messages(6));
    EXPECT_TRUE(is_forgotten());
    bench.stop();
    EXPECT_EQ(ids_in_order(), event_ids(1, 6));
}

TEST_P(Halt, IsNotAskedToHealBesideARelayThatStreams) {
    bench.start();
    const auto refused = bench.command({"resume", "--heal"});
    EXPECT_EQ(refused.exit_code, 3);
    EXPECT_TRUE(says(refused.errors, "stop every relay of the slot"));
    bench.stop();
}

/// What each surface names first leads, command by command, to a stream that has each row once.
class Advice : public Halt {
protected:
    /// The first command of walrelay that the text names, with its flags.
    static std::vector<std::string> first_command(const std::string& text) {
        static const std::regex command(
            "walrelay (verify|run|check|init|resume|replay)((?: --[a-z-]+)*)");
        std::smatch found;
        if (!std::regex_search(text, found, command)) {
            return {};
        }
        std::vector<std::string> words{found[1]};
        std::istringstream flags(found[2]);
        for (std::string flag; flags >> flag;) {
            words.push_back(flag);
        }
        return words;
    }
    static std::string after(const std::string& text, const std::string& mark) {
        const auto at = text.rfind(mark);
        return at == std::string::npos ? "" : text.substr(at + mark.size());
    }

    /// Follows the advice of each command's answer until `run` is to be started.
    void follow(std::vector<std::string> words) {
        constexpr std::size_t longest_way = 4;
        for (std::size_t step = 0; words != std::vector<std::string>{"run"}; ++step) {
            ASSERT_FALSE(words.empty());
            ASSERT_LT(step, longest_way) << "the advice leads in a circle";
            way_ += words.front() + (words.size() > 1 ? " " + words[1] : "") + "; ";
            const auto said = bench.command(words);
            const auto text = words.front() == "verify"   ? after(said.output, "missing  ")
                              : words.front() == "resume" ? after(said.output, "Slot ")
                                                          : said.output;
            words = first_command(text);
        }
        bench.start();
        ASSERT_TRUE(bench.wait_for_messages(3)) << way_;
        EXPECT_TRUE(is_forgotten());
        bench.stop();
        EXPECT_EQ(ids_in_order(), event_ids(1, 3)) << way_;
        EXPECT_EQ(bench.command({"verify"}).exit_code, 0) << way_;
    }

    std::string way_;
};

TEST_P(Advice, OfTheHaltLeadsToTheRows) {
    halt();
    bench.execute(insert_event(3));
    follow(first_command(after(bench.relay().log(), "fix: ")));
}

TEST_P(Advice, OfARefusedStartLeadsToTheRows) {
    halt();
    bench.execute(insert_event(3));
    follow(first_command(after(bench.command({"run"}).errors, "fix: ")));
}

TEST_P(Advice, OfCheckLeadsToTheRows) {
    halt();
    bench.execute(insert_event(3));
    follow(first_command(after(bench.command({"check"}).output, "is halted since")));
}

TEST_P(Advice, OfStatusLeadsToTheRows) {
    halt();
    bench.execute(insert_event(3));
    follow(first_command(after(bench.command({"status"}).output, "\nfix ")));
}

TEST_P(Advice, OfVerifyNamesWhatIsMissingAndNotWhatTheSlotBrings) {
    halt();
    bench.execute(insert_event(3));
    const auto said = bench.command({"verify"});
    EXPECT_EQ(said.exit_code, 1);
    EXPECT_TRUE(says(said.output, "missing      1 row is in neither"));
    EXPECT_TRUE(says(said.output, "undelivered  1 row is not in the stream"));
    EXPECT_FALSE(says(said.output, "start walrelay run"));
    follow({"verify"});
}

TEST_P(Advice, OfAPlainResumeLeadsToTheRows) {
    halt();
    bench.execute(insert_event(3));
    const auto said = bench.command({"resume"});
    follow(first_command(after(said.output, "Nothing was changed")));
}

TEST_P(Halt, KeepsAStandbyOut) {
    bench.start();
    auto standby = another("standby");
    ASSERT_TRUE(standby.wait_for_log("standing by", patience));
    standby.process().signal(SIGSTOP);
    advance_under_the_relay();
    EXPECT_EQ(bench.relay().process().wait_exit(patience), 3);
    const auto position = bench.slot("confirmed_flush_lsn");
    standby.process().signal(SIGCONT);
    EXPECT_EQ(standby.process().wait_exit(patience), 3);
    EXPECT_TRUE(says(standby.log(), kept("reason")));
    EXPECT_EQ(bench.slot("confirmed_flush_lsn"), position);
}

TEST_P(Halt, IsFoundByBothOfTwoRelaysThatStartBesideEachOther) {
    bench.start();
    bench.execute(insert_events(1, 5));
    ASSERT_TRUE(bench.wait_for_messages(5));
    bench.stop();
    bench.execute(insert_event(6));
    advance_slot();
    bench.launch();
    auto second = another("second");
    EXPECT_EQ(bench.relay().process().wait_exit(patience), 3);
    EXPECT_EQ(second.process().wait_exit(patience), 3);
    EXPECT_TRUE(says(bench.relay().log(), event_id(6)));
    EXPECT_TRUE(says(second.log(), event_id(6)));
    // The startup check would find the same again.
    EXPECT_EQ(bench.command({"resume", "--give-up"}).exit_code, 0);
    bench.start();
    bench.execute(insert_event(7));
    ASSERT_TRUE(bench.wait_for_messages(6));
    EXPECT_TRUE(is_forgotten());
    bench.stop();
}

TEST_P(Halt, IsRemovedByARunThatSkipsTheStartupCheck) {
    halt();
    bench.execute(insert_event(3));
    relay_process skipping({.program = WALRELAY_BINARY,
                            .arguments = {"run", "--skip-startup-check", "--config",
                                          (bench.folder() / "walrelay.toml").string()},
                            .folder = bench.folder(),
                            .name = "skipping"});
    ASSERT_TRUE(bench.wait_for_messages(2));
    EXPECT_TRUE(is_forgotten());
    EXPECT_TRUE(says(skipping.log(), "--skip-startup-check"));
    EXPECT_EQ(skipping.stop(patience), 0);
}

/// Else a later gap that could not be kept would be passed with the decision about this one.
TEST_P(Halt, IsNotPassedForGivenUpRowsWhereItCannotBeRemoved) {
    halt();
    ASSERT_EQ(bench.command({"resume", "--give-up"}).exit_code, 0);
    const auto role = "keeping_" + bench.database();
    bench.execute("CREATE ROLE " + role + " LOGIN REPLICATION; GRANT USAGE ON SCHEMA walrelay TO " +
                  role + "; GRANT SELECT ON outbox_events TO " + role +
                  "; GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA walrelay TO " +
                  role + "; REVOKE DELETE ON walrelay.halt FROM " + role);
    bench.set_conninfo(bench.conninfo() + " user=" + role);
    const auto refused = bench.command({"run"});
    EXPECT_EQ(refused.exit_code, 3);
    EXPECT_TRUE(says(refused.errors, "would give up what is missing then"));
    EXPECT_TRUE(says(refused.errors, "fix: GRANT"));
    bench.execute("GRANT DELETE ON walrelay.halt TO " + role);
    bench.execute(insert_event(3));
    bench.start();
    ASSERT_TRUE(bench.wait_for_messages(2));
    EXPECT_TRUE(is_forgotten());
    bench.stop();
}

TEST_P(Halt, IsHealed) {
    halt();
    bench.execute(insert_event(3));
    bench.set_delivery("on_slot_loss = 'heal'");
    bench.start();
    bench.execute(insert_event(4));
    ASSERT_TRUE(bench.wait_for_messages(4));
    EXPECT_TRUE(is_forgotten());
    bench.stop();
    EXPECT_EQ(ids_in_order(), event_ids(1, 4));
}

TEST_P(Halt, StaysAndGoesOnOnceItIsResumed) {
    bench.set_delivery("on_halt = 'stay'");
    bench.start();
    advance_under_the_relay();
    ASSERT_TRUE(bench.relay().wait_for_log("staying", patience));
    EXPECT_TRUE(eventually(patience, [&] { return bench.slot("active") == "f"; }));
    bench.execute(insert_event(3));
    EXPECT_EQ(bench.messages().size(), 1U);
    ASSERT_EQ(bench.command({"resume", "--give-up"}).exit_code, 0);
    ASSERT_TRUE(bench.wait_for_messages(2));
    EXPECT_TRUE(is_forgotten());
    bench.stop();
}

TEST_P(Halt, StaysUntilItIsToldToStop) {
    bench.set_delivery("on_halt = 'stay'");
    bench.start();
    advance_under_the_relay();
    ASSERT_TRUE(bench.relay().wait_for_log("staying", patience));
    bench.stop();
    EXPECT_EQ(kept("resumed_at IS NULL"), "t");
}

TEST_P(Halt, AnswersASigHupAlsoWhileItStays) {
    bench.set_delivery("on_halt = 'stay'");
    bench.start();
    advance_under_the_relay();
    ASSERT_TRUE(bench.relay().wait_for_log("until walrelay resume", patience));
    bench.relay().process().signal(SIGHUP);
    EXPECT_TRUE(bench.relay().wait_for_log("SIGHUP: nothing is reopened", patience));
    bench.stop();
}

TEST_P(Halt, StaysUntilTheCauseThatItFindsByItselfIsGone) {
    bench.set_delivery("on_halt = 'stay'\nbackoff_max = '300ms'");
    bench.start();
    bench.execute(insert_event(1));
    ASSERT_TRUE(bench.wait_for_messages(1));
    bench.stop();
    bench.execute("ALTER TABLE outbox_events RENAME TO elsewhere");
    bench.launch();
    ASSERT_TRUE(bench.relay().wait_for_log("staying", patience));
    bench.execute("ALTER TABLE elsewhere RENAME TO outbox_events");
    ASSERT_TRUE(eventually(patience, [&] { return bench.streaming(); }));
    bench.execute(insert_event(2));
    bench.expect_relayed(event_ids(1, 2));
}

TEST_P(Halt, IsReportedAlsoWhereItCannotBeKept) {
    const auto role = "halting_" + bench.database();
    bench.execute("CREATE ROLE " + role + " LOGIN REPLICATION");
    bench.set_delivery("on_poison = 'halt'");
    ASSERT_EQ(bench.command({"init"}).exit_code, 0);
    bench.execute("DROP SCHEMA walrelay CASCADE");
    bench.set_conninfo(bench.conninfo() + " user=" + role);
    bench.start();
    advance_under_the_relay();
    EXPECT_EQ(bench.relay().process().wait_exit(patience), 3);
    EXPECT_TRUE(says(bench.relay().log(), "may not create the table walrelay.halt"));
    EXPECT_TRUE(says(bench.relay().log(), "walrelay init"));
}

INSTANTIATE_TEST_SUITE_P(, Halt, both_plugins(), plugin_name);
INSTANTIATE_TEST_SUITE_P(, Advice, both_plugins(), plugin_name);

}  // namespace
}  // namespace walrelay::test
