// Positions that are kept for a replay: made and dropped by people, moved along by the relay.
#include "integration/e2e/answering_relay.hpp"
#include "integration/e2e/relay_bench.hpp"
#include "support/eventually.hpp"

namespace walrelay::test {
namespace {

class KeptPositionsE2e : public e2e_test {
protected:
    KeptPositionsE2e() { bench.create_table(); }

    static testing::AssertionResult says(const std::string& text, const std::string& wanted) {
        return has(text, wanted)
                   ? testing::AssertionSuccess()
                   : testing::AssertionFailure() << "no '" << wanted << "' in: " << text;
    }

    testing::AssertionResult ends(const std::vector<std::string>& words, int code,
                                  const std::string& wanted) {
        const auto run = bench.command(words);
        if (run.exit_code != code) {
            return testing::AssertionFailure()
                   << "exit code " << run.exit_code << ": " << run.output << run.errors;
        }
        return says(run.output + run.errors, wanted);
    }

    /// A column of one of the slots; empty where there is no such slot.
    [[nodiscard]] std::string of_slot(const std::string& suffix, const std::string& column) const {
        return bench.session().value_of("SELECT coalesce((SELECT (" + column +
                                        ")::text FROM pg_replication_slots WHERE slot_name = " +
                                        as_literal(bench.name() + suffix) + "), '')");
    }
    [[nodiscard]] bool has_slot(const std::string& suffix) const {
        return !of_slot(suffix, "slot_name").empty();
    }
    /// From PostgreSQL 17 on, whether standbys keep it.
    [[nodiscard]] std::string failover_of(const std::string& suffix) const {
        return of_slot(suffix, "to_jsonb(pg_replication_slots) ->> 'failover'");
    }
    [[nodiscard]] bool holds(const std::string& condition) const {
        return bench.session().value_of("SELECT " + condition) == "t";
    }

    /// How many inserted rows a slot would send again.
    [[nodiscard]] std::string rows_after(const std::string& suffix) const {
        const auto slot = as_literal(bench.name() + suffix);
        const auto rows = bench.plugin() == "wal2json"
                              ? "pg_logical_slot_peek_changes(" + slot +
                                    ", NULL, NULL, 'format-version', '2', 'add-tables', "
                                    "'public.outbox_events') WHERE data LIKE '%\"action\":\"I\"%'"
                              : "pg_logical_slot_peek_binary_changes(" + slot +
                                    ", NULL, NULL, 'proto_version', '1', 'publication_names', " +
                                    as_literal(bench.name()) +
                                    ") WHERE get_byte(data, 0) = ascii('I')";
        return bench.session().value_of("SELECT count(*) FROM " + rows);
    }

    /// WAL that has nothing to do with the outbox, and a place from which decoding can start after
    /// it.
    void write_wal(int megabytes) const {
        bench.execute("CREATE TABLE IF NOT EXISTS public.ballast (text text)");
        for (int each = 0; each < megabytes; ++each) {
            bench.execute(
                "INSERT INTO public.ballast SELECT repeat(md5(n::text), 32) FROM "
                "generate_series(1, 1000) AS n");
        }
        bench.execute("CHECKPOINT");
    }

    void relay_rows(std::uint64_t first, std::uint64_t last) {
        bench.execute(insert_events(first, last));
        ASSERT_TRUE(bench.wait_for_messages(last));
        ASSERT_TRUE(bench.confirmed_reaches(bench.wal_end()));
    }
};

TEST_P(KeptPositionsE2e, AreMadeWhileARelayRunsListedAndDropped) {
    bench.start();
    relay_rows(1, 3);
    EXPECT_TRUE(ends({"bookmark", "list"}, 0, "no positions are kept"));
    EXPECT_TRUE(
        ends({"bookmark", "create", "before-it", "--comment", "release 2", "--expires", "2h"}, 0,
             "made bookmark before-it at LSN"));
    EXPECT_EQ(of_slot("_at_before_it", "confirmed_flush_lsn IS NOT NULL"), "true");
    EXPECT_EQ(failover_of("_at_before_it"), failover_of(""));
    relay_rows(4, 8);
    EXPECT_EQ(rows_after("_at_before_it"), "5") << "rows that the relay's own slot is past";
    const auto listed = bench.command({"bookmark", "list"});
    EXPECT_TRUE(says(listed.output, "before-it"));
    EXPECT_TRUE(says(listed.output, of_slot("_at_before_it", "confirmed_flush_lsn")));
    EXPECT_TRUE(says(listed.output, "release 2"));
    EXPECT_TRUE(says(bench.command({"bookmark", "list", "--json"}).output,
                     "\"name\":\"before-it\",\"slot\":\"" + bench.name() + "_at_before_it\""));
    EXPECT_TRUE(
        ends({"bookmark", "create", "before_it"}, 2, "there is a bookmark before-it already"));
    EXPECT_TRUE(ends({"bookmark", "drop", "before-it"}, 0, "dropped bookmark before-it"));
    EXPECT_FALSE(has_slot("_at_before_it"));
    EXPECT_TRUE(ends({"bookmark", "drop", "before-it"}, 1, "there is no bookmark before-it"));
    EXPECT_TRUE(ends({"bookmark", "list"}, 0, "no positions are kept"));
    bench.stop();
}

TEST_P(KeptPositionsE2e, AreRefusedWhereTheyWouldBeDangerous) {
    EXPECT_TRUE(ends({"bookmark", "create", "a"}, 3, "there is no such slot"));
    bench.start();
    EXPECT_TRUE(ends({"bookmark", "create", "A"}, 2, "cannot have that name"));
    EXPECT_TRUE(ends({"bookmark", "create", "a", "--expires", "soon"}, 2, "--expires"));
    EXPECT_TRUE(
        ends({"bookmark", "create", "a", "--expires", "never"}, 3, "nothing bounds the WAL"));
    EXPECT_FALSE(has_slot("_at_a"));
    EXPECT_TRUE(
        ends({"bookmark", "create", "a", "--expires", "never", "--force"}, 0, "expires  never"));
    EXPECT_TRUE(has_slot("_at_a"));
    bench.stop();
}

TEST_P(KeptPositionsE2e, ThatSomebodyElseMadeAreLeftAlone) {
    bench.set_replay("keep = '10s'");
    bench.start();
    ASSERT_TRUE(bench.relay().wait_for_log("made slot " + bench.name() + "_trail", patience));
    bench.stop();
    for (const auto* const suffix : {"_at_mine", "_trail"}) {
        bench.execute(
            "SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots WHERE "
            "slot_name = " +
            as_literal(bench.name() + suffix));
        bench.execute("DELETE FROM walrelay.bookmark");
        bench.execute("SELECT pg_copy_logical_replication_slot(" + as_literal(bench.name()) + ", " +
                      as_literal(bench.name() + suffix) + ")");
    }
    bench.start();
    EXPECT_TRUE(bench.relay().wait_for_log("walrelay did not make it", patience));
    EXPECT_TRUE(says(bench.command({"bookmark", "list"}).output, "made by hand"));
    EXPECT_TRUE(ends({"bookmark", "drop", "mine"}, 3, "is left alone"));
    EXPECT_TRUE(ends({"bookmark", "create", "mine"}, 2, "there is a bookmark mine already"));
    EXPECT_TRUE(says(bench.command({"check"}).output, "walrelay did not make it"));
    bench.stop();
    bench.set_replay("");
    bench.start();
    relay_rows(1, 1);
    bench.stop();
    EXPECT_TRUE(has_slot("_trail"));
    EXPECT_TRUE(has_slot("_at_mine"));
}

TEST_P(KeptPositionsE2e, FollowTheSlotAsFarBehindAsReplayKeepSays) {
    bench.set_replay("keep = '3s'");
    bench.start();
    ASSERT_TRUE(bench.relay().wait_for_log("made slot " + bench.name() + "_trail", patience));
    EXPECT_TRUE(eventually(patience, [&] { return failover_of("_trail") == failover_of(""); }));
    relay_rows(1, 2);
    const auto first = bench.slot("confirmed_flush_lsn").value();
    const auto at = bench.session().value_of("SELECT clock_timestamp()");
    EXPECT_TRUE(holds("'" + of_slot("_trail", "confirmed_flush_lsn") + "'::pg_lsn < '" + first +
                      "'::pg_lsn"));
    ASSERT_TRUE(eventually(patience, [&] {
        return holds("'" + of_slot("_trail", "confirmed_flush_lsn") + "'::pg_lsn >= '" + first +
                     "'::pg_lsn");
    }));
    EXPECT_TRUE(holds("clock_timestamp() - '" + at + "'::timestamptz >= '2 s'"));
    EXPECT_TRUE(
        holds("(SELECT t.confirmed_flush_lsn <= s.confirmed_flush_lsn FROM "
              "pg_replication_slots AS t, pg_replication_slots AS s WHERE t.slot_name = '" +
              bench.name() + "_trail' AND s.slot_name = '" + bench.name() + "')"));
    EXPECT_TRUE(says(bench.command({"bookmark", "list"}).output, "(trail)"));
    bench.stop();
}

TEST_P(KeptPositionsE2e, OutlastTheRelayThatKeepsThem) {
    bench.set_replay("keep = '1h'");
    bench.start();
    ASSERT_TRUE(bench.relay().wait_for_log("made slot", patience));
    const auto at = of_slot("_trail", "confirmed_flush_lsn");
    relay_rows(1, 5);
    bench.kill_9();
    bench.start();
    relay_rows(6, 9);
    EXPECT_EQ(of_slot("_trail", "confirmed_flush_lsn"), at);
    EXPECT_EQ(rows_after("_trail"), "9");
    EXPECT_TRUE(eventually(patience, [&] {
        return bench.session().value_of(
                   "SELECT count(*) > 1 AND min(seen_at) < max(seen_at) FROM "
                   "walrelay.trail") == "t";
    }));
    // Its own time goes on over both lives.
    EXPECT_TRUE(holds("(SELECT min(position) = '" + at + "' FROM walrelay.trail)"));
    bench.stop();
    bench.set_replay("");
    bench.start();
    EXPECT_TRUE(bench.relay().wait_for_log("replay.keep is not set any more", patience));
    EXPECT_TRUE(eventually(patience, [&] { return !has_slot("_trail"); }));
    bench.stop();
}

TEST_P(KeptPositionsE2e, AreDroppedWhenTheyHaveExpired) {
    bench.set_replay("keep = '5s'");
    bench.start();
    ASSERT_TRUE(bench.relay().wait_for_log("made slot", patience));
    ASSERT_TRUE(ends({"bookmark", "create", "short", "--expires", "1s"}, 0, "made bookmark short"));
    ASSERT_TRUE(ends({"bookmark", "create", "long"}, 0, "made bookmark long"));
    EXPECT_TRUE(bench.relay().wait_for_log("dropped bookmark short", patience));
    EXPECT_TRUE(eventually(patience, [&] { return !has_slot("_at_short"); }));
    EXPECT_TRUE(has_slot("_at_long"));
    EXPECT_EQ(bench.session().value_of("SELECT string_agg(name, ',') FROM walrelay.bookmark"),
              "long");
    bench.stop();
}

TEST_P(KeptPositionsE2e, GiveWayWhereTheyHoldTooMuch) {
    bench.set_replay("keep = '5s'\nmax_wal = '4MiB'");
    answering_relay relay(bench, "answers");
    ASSERT_TRUE(relay.process().wait_for_log("made slot", patience));
    ASSERT_TRUE(ends({"bookmark", "create", "old"}, 0, "made bookmark old"));
    EXPECT_TRUE(relay.comes_to_say("/metrics", "walrelay_bookmarks{state=\"kept\"} 1"));
    EXPECT_TRUE(says(bench.command({"status"}).output, "kept"));
    const auto gives_way = [&] {
        write_wal(2);
        bench.execute(insert_event(1));
        bench.execute("DELETE FROM public.outbox_events");
        return !has_slot("_at_old");
    };
    ASSERT_TRUE(eventually(patience, gives_way));
    EXPECT_TRUE(relay.process().wait_for_log("more than replay.max_wal (4MiB) allows", patience));
    EXPECT_TRUE(
        relay.comes_to_say("/metrics", "walrelay_bookmarks_dropped_total{reason=\"max_wal\"} 1"));
    EXPECT_TRUE(relay.comes_to_say("/status", "\"bookmarks_dropped\":1"));
    EXPECT_TRUE(has_slot("_trail"));
    // What the relay's slot needs itself is not the trail's.
    EXPECT_TRUE(eventually(patience, [&] {
        bench.execute("CHECKPOINT");
        return holds(
            "(SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), restart_lsn) < 6291456 FROM "
            "pg_replication_slots WHERE slot_name = '" +
            bench.name() + "_trail')");
    }));
    EXPECT_EQ(relay.process().stop(patience), 0);
}

INSTANTIATE_TEST_SUITE_P(Plugins, KeptPositionsE2e, both_plugins(), plugin_name);

}  // namespace
}  // namespace walrelay::test
