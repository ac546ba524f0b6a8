// A slot that goes on with the other output plugin.
#include "integration/e2e/relay_bench.hpp"
#include "support/eventually.hpp"

#include <gmock/gmock.h>

#include <string>
#include <vector>

namespace walrelay::test {
namespace {

using testing::HasSubstr;
using testing::Not;

const char* other(const std::string& plugin) {
    return plugin == "wal2json" ? "pgoutput" : "wal2json";
}

class SwitchPlugin : public e2e_test {
protected:
    SwitchPlugin() { bench.create_table(); }

    /// With rows that the slot has still to send.
    void stop_behind() {
        bench.start();
        bench.execute(insert_events(1, 100));
        ASSERT_TRUE(bench.wait_for_messages(100)) << bench.relay().log();
        bench.stop();
        bench.execute(insert_events(101, 200));
    }
    [[nodiscard]] finished_run switched() {
        bench.set_plugin(other(GetParam()));
        return bench.command({"init", "--switch-plugin"});
    }
    void expect_all() {
        EXPECT_EQ(bench.slot("plugin"), other(GetParam()));
        bench.start();
        bench.expect_relayed(event_ids(1, 200));
    }
    [[nodiscard]] std::string waiting() const { return bench.name() + "_switch"; }
};

TEST_P(SwitchPlugin, LosesAndDoublesNothing) {
    bench.execute("CREATE PUBLICATION " + bench.name() +
                  " FOR TABLE outbox_events WITH (publish = 'insert')");
    stop_behind();
    const auto done = switched();
    EXPECT_EQ(done.exit_code, 0) << done.output << done.errors;
    expect_all();
}

TEST_P(SwitchPlugin, IsFinishedByTheNextTry) {
    bench.execute("CREATE PUBLICATION " + bench.name() +
                  " FOR TABLE outbox_events WITH (publish = 'insert')");
    stop_behind();
    bench.execute("SELECT pg_copy_logical_replication_slot('" + bench.name() + "', '" + waiting() +
                  "', false, '" + other(GetParam()) + "'); SELECT pg_drop_replication_slot('" +
                  bench.name() + "')");
    bench.set_plugin(other(GetParam()));
    const auto run = bench.command({"run"});
    EXPECT_EQ(run.exit_code, 3);
    EXPECT_NE(run.errors.find("walrelay init --switch-plugin"), std::string::npos) << run.errors;
    const auto done = switched();
    EXPECT_EQ(done.exit_code, 0) << done.output << done.errors;
    expect_all();
}

TEST_P(SwitchPlugin, ThatBrokeOffHasLostNoRow) {
    bench.execute("CREATE PUBLICATION " + bench.name() +
                  " FOR TABLE outbox_events WITH (publish = 'insert')");
    stop_behind();
    bench.execute("SELECT pg_copy_logical_replication_slot('" + bench.name() + "', '" + waiting() +
                  "', false, '" + other(GetParam()) + "'); SELECT pg_drop_replication_slot('" +
                  bench.name() + "')");
    const auto verified = bench.command({"verify"});
    EXPECT_EQ(verified.exit_code, 1) << verified.errors;
    EXPECT_THAT(verified.output, HasSubstr("100 rows are not in the stream, and the slot may"));
    EXPECT_THAT(verified.output, HasSubstr("waits under another name"));
    EXPECT_THAT(verified.output, HasSubstr("walrelay init --switch-plugin"));
    EXPECT_THAT(verified.output, Not(HasSubstr("resume --heal")));
    for (const auto* const how : {"--", "--heal", "--give-up"}) {
        std::vector<std::string> words{"resume"};
        if (std::string(how) != "--") {
            words.emplace_back(how);
        }
        const auto refused = bench.command(words);
        EXPECT_EQ(refused.exit_code, 3) << how << refused.output;
        EXPECT_THAT(refused.errors, HasSubstr("waits under another name"));
        EXPECT_THAT(refused.errors, HasSubstr("walrelay init --switch-plugin"));
    }
    const auto found = bench.command({"find", event_id(150)});
    EXPECT_THAT(found.output, HasSubstr("waits under another name"));
    EXPECT_THAT(found.output, Not(HasSubstr("not sent")));
    EXPECT_THAT(bench.command({"dead-letter", "list", "--given-up"}).output,
                Not(HasSubstr(event_id(150))));
    const auto done = switched();
    EXPECT_EQ(done.exit_code, 0) << done.output << done.errors;
    expect_all();
    bench.stop();
    EXPECT_EQ(bench.command({"verify"}).exit_code, 0);
}

/// The slot has its new plugin, and only the copy is left.
TEST_P(SwitchPlugin, GoesOnToThePluginThatWasBegunWithWhereNoneIsConfigured) {
    bench.execute("CREATE PUBLICATION " + bench.name() +
                  " FOR TABLE outbox_events WITH (publish = 'insert')");
    stop_behind();
    bench.execute("SELECT pg_copy_logical_replication_slot('" + bench.name() + "', '" + waiting() +
                  "', false, '" + other(GetParam()) + "'); SELECT pg_drop_replication_slot('" +
                  bench.name() + "'); SELECT pg_copy_logical_replication_slot('" + waiting() +
                  "', '" + bench.name() + "', false, '" + other(GetParam()) + "')");
    bench.set_plugin("auto");
    const auto done = bench.command({"init", "--switch-plugin"});
    EXPECT_EQ(done.exit_code, 0) << done.output << done.errors;
    expect_all();
}

TEST_P(SwitchPlugin, IsRefusedWhileARelayRuns) {
    bench.execute("CREATE PUBLICATION " + bench.name() +
                  " FOR TABLE outbox_events WITH (publish = 'insert')");
    bench.start();
    const auto done = switched();
    EXPECT_EQ(done.exit_code, 3) << done.output << done.errors;
    EXPECT_NE(done.errors.find("stop walrelay run"), std::string::npos) << done.errors;
    EXPECT_EQ(bench.slot("plugin"), GetParam());
    EXPECT_EQ(
        bench.session().value_of("SELECT count(*) FROM pg_replication_slots WHERE slot_name = '" +
                                 waiting() + "'"),
        "0");
    bench.stop();
}

TEST_P(SwitchPlugin, IsRefusedWhereTwoSlotsMayCount) {
    stop_behind();
    bench.execute("SELECT pg_create_logical_replication_slot('" + waiting() + "', '" + GetParam() +
                  "')");
    if (std::string(GetParam()) == "wal2json") {
        bench.execute("CREATE PUBLICATION " + bench.name() +
                      " FOR TABLE outbox_events WITH (publish = 'insert')");
    }
    const auto done = switched();
    EXPECT_EQ(done.exit_code, 3) << done.output << done.errors;
    EXPECT_NE(done.errors.find("cannot tell which of them"), std::string::npos) << done.errors;
    EXPECT_EQ(bench.slot("plugin"), GetParam());
    bench.execute("SELECT pg_drop_replication_slot('" + waiting() + "')");
}

/// To a plugin that leaves out what was written before its publication had the table.
class SwitchToPgoutput : public SwitchPlugin {
protected:
    void expect_refused(const std::string& reason) {
        const auto done = switched();
        EXPECT_EQ(done.exit_code, 3) << done.output << done.errors;
        EXPECT_NE(done.errors.find(reason), std::string::npos) << done.errors;
        EXPECT_EQ(done.errors.find("pg_drop_replication_slot"), std::string::npos)
            << "the slot has rows that are nowhere else: " << done.errors;
        EXPECT_EQ(bench.slot("plugin"), "wal2json");
    }
};

TEST_P(SwitchToPgoutput, IsRefusedWhereThePublicationIsMissingOrYounger) {
    stop_behind();
    expect_refused("there is no publication");
    bench.execute("CREATE PUBLICATION " + bench.name() +
                  " FOR TABLE outbox_events WITH (publish = 'insert')");
    expect_refused("from before publication");
    bench.set_plugin("wal2json");
    bench.start();
    bench.expect_relayed(event_ids(1, 200));
}

TEST_P(SwitchToPgoutput, IsRefusedWhereThePublicationHasTheTableOnlyNow) {
    bench.execute("CREATE TABLE another (id int); CREATE PUBLICATION " + bench.name() +
                  " FOR TABLE another WITH (publish = 'insert')");
    stop_behind();
    expect_refused("outbox_events");
    bench.execute("ALTER PUBLICATION " + bench.name() + " ADD TABLE outbox_events");
    expect_refused("from before publication");
}

/// Of bookmarks that wal2json made: the publication got the table after them.
class KeptBeforeTheSwitch : public SwitchPlugin {
protected:
    void TearDown() override {
        bench.execute(
            "SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots WHERE slot_name "
            "LIKE '" +
            bench.name() + "\\_%'");
    }

    /// 100 rows after the bookmark were never in the publication, ten are.
    void switch_after_the_table_was_added() {
        bench.execute("CREATE TABLE another (id int); CREATE PUBLICATION " + bench.name() +
                      " FOR TABLE another WITH (publish = 'insert')");
        bench.start();
        ASSERT_EQ(bench.command({"bookmark", "create", "before"}).exit_code, 0);
        bench.execute(insert_events(1, 100));
        bench.execute("ALTER PUBLICATION " + bench.name() + " ADD TABLE outbox_events");
        bench.execute(insert_events(101, 110));
        ASSERT_TRUE(bench.wait_for_messages(110)) << bench.relay().log();
        ASSERT_TRUE(eventually(patience, [this] { return needs_only_the_publication_of_now(); }));
        bench.stop();
        const auto done = switched();
        ASSERT_EQ(done.exit_code, 0) << done.output << done.errors;
        ASSERT_EQ(bench.slot("plugin"), "pgoutput");
    }
    /// A checkpoint logs the running transactions, which the slot needs to see for that.
    [[nodiscard]] bool needs_only_the_publication_of_now() const {
        bench.execute("CHECKPOINT");
        return bench.session().value_of(
                   "SELECT min(age(r.xmin)) > max(age(s.catalog_xmin)) FROM pg_publication_rel AS "
                   "r, pg_replication_slots AS s WHERE s.slot_name = '" +
                   bench.name() + "'") == "t";
    }
    finished_run replayed(const std::vector<std::string>& more) {
        std::vector<std::string> words{"replay"};
        words.insert(words.end(), more.begin(), more.end());
        return bench.command(words);
    }
};

TEST_P(KeptBeforeTheSwitch, IsReplayedWhole) {
    ASSERT_NO_FATAL_FAILURE(switch_after_the_table_was_added());
    const auto plan = replayed({"--from", "bookmark:before"});
    EXPECT_EQ(plan.exit_code, 0) << plan.errors;
    EXPECT_THAT(plan.output, HasSubstr("110 rows"));
    bench.start();
    const auto done = replayed({"--from", "bookmark:before", "--execute"});
    EXPECT_EQ(done.exit_code, 0) << done.errors;
    EXPECT_THAT(done.output, HasSubstr("110 rows published"));
    EXPECT_TRUE(bench.wait_for_messages(220)) << bench.relay().log();
    const auto copied = replayed({"--from", "bookmark:before", "--subject", "again.{subject}",
                                  "--to-stream", bench.name() + "_again", "--execute"});
    EXPECT_EQ(copied.exit_code, 0) << copied.errors;
    EXPECT_THAT(copied.output, HasSubstr("110 rows"));
    bench.broker().remove(bench.name() + "_again");
}

TEST_P(KeptBeforeTheSwitch, IsNoPlaceToRewindToWithPgoutput) {
    ASSERT_NO_FATAL_FAILURE(switch_after_the_table_was_added());
    const auto stands = *bench.slot("confirmed_flush_lsn");
    bench.broker().remove(bench.stream_name());
    for (const auto* const how : {"", "--execute"}) {
        std::vector<std::string> words{"--rewind", "bookmark:before"};
        if (*how != '\0') {
            words.emplace_back(how);
        }
        const auto refused = replayed(words);
        EXPECT_EQ(refused.exit_code, 3) << refused.output;
        EXPECT_THAT(refused.errors, HasSubstr("table public.outbox_events"));
        EXPECT_THAT(refused.errors, HasSubstr("would leave out such rows"));
        EXPECT_THAT(refused.errors, HasSubstr("set postgres.plugin = \"wal2json\""));
    }
    EXPECT_EQ(*bench.slot("confirmed_flush_lsn"), stands);
    EXPECT_EQ(bench.command({"bookmark", "list"}).output.find("undo-"), std::string::npos);
    bench.set_plugin("wal2json");
    const auto done = replayed({"--rewind", "bookmark:before", "--execute"});
    EXPECT_EQ(done.exit_code, 0) << done.output << done.errors;
    EXPECT_EQ(bench.slot("plugin"), "wal2json");
    bench.start();
    bench.expect_relayed(event_ids(1, 110));
}

/// All that it stands before has been in the publication.
TEST_P(KeptBeforeTheSwitch, IsRewoundToWhereThePublicationIsOlder) {
    bench.execute("CREATE PUBLICATION " + bench.name() +
                  " FOR TABLE outbox_events WITH (publish = 'insert')");
    bench.start();
    ASSERT_EQ(bench.command({"bookmark", "create", "before"}).exit_code, 0);
    bench.execute(insert_events(1, 100));
    ASSERT_TRUE(bench.wait_for_messages(100)) << bench.relay().log();
    bench.stop();
    ASSERT_EQ(switched().exit_code, 0);
    bench.broker().remove(bench.stream_name());
    const auto done = replayed({"--rewind", "bookmark:before", "--execute"});
    EXPECT_EQ(done.exit_code, 0) << done.output << done.errors;
    EXPECT_EQ(bench.slot("plugin"), "pgoutput");
    bench.start();
    bench.expect_relayed(event_ids(1, 100));
}

INSTANTIATE_TEST_SUITE_P(Wal2json, SwitchToPgoutput, testing::Values("wal2json"), plugin_name);
INSTANTIATE_TEST_SUITE_P(Wal2json, KeptBeforeTheSwitch, testing::Values("wal2json"), plugin_name);
INSTANTIATE_TEST_SUITE_P(BothPlugins, SwitchPlugin, both_plugins(), plugin_name);

}  // namespace
}  // namespace walrelay::test
