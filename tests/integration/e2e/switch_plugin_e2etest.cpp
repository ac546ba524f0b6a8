// A slot that goes on with the other output plugin.
#include "integration/e2e/relay_bench.hpp"

namespace walrelay::test {
namespace {

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

INSTANTIATE_TEST_SUITE_P(Wal2json, SwitchToPgoutput, testing::Values("wal2json"), plugin_name);
INSTANTIATE_TEST_SUITE_P(BothPlugins, SwitchPlugin, both_plugins(), plugin_name);

}  // namespace
}  // namespace walrelay::test
