// A relay whose slot or stream loses something, and what each of its starts must say and do then.
#pragma once

#include "integration/e2e/relay_bench.hpp"
#include "support/eventually.hpp"

#include <gmock/gmock.h>

#include <cstdint>
#include <string>
#include <vector>

namespace walrelay::test {

/// With a broker of its own, whose store is put back.
class Witness : public testing::TestWithParam<const char*> {
protected:
    Witness() { bench.create_table(); }

    void insert(std::uint64_t first, std::uint64_t last) {
        bench.execute(insert_events(first, last));
    }
    void relay(std::uint64_t first, std::uint64_t last) {
        insert(first, last);
        ASSERT_TRUE(bench.confirmed_reaches(bench.wal_end()));
    }
    /// What a day leaves: rows that are stored, and a slot that was told so.
    void run_with(std::uint64_t first, std::uint64_t last) {
        bench.start();
        relay(first, last);
        bench.stop();
    }
    /// Past all that was committed.
    void advance_slot() {
        bench.execute("SELECT pg_replication_slot_advance(" + as_literal(bench.name()) +
                      ", pg_current_wal_lsn())");
    }
    void drop_slot() {
        bench.execute("SELECT pg_drop_replication_slot(" + as_literal(bench.name()) + ")");
    }
    void make_slot_anew() {
        drop_slot();
        bench.execute("SELECT pg_create_logical_replication_slot(" + as_literal(bench.name()) +
                      ", " + as_literal(bench.plugin()) + ")");
    }

    std::string kept(const std::string& what) {
        return bench.session().value_of("SELECT " + what + " FROM walrelay.halt");
    }
    /// The table is made with the first one.
    std::string halts() {
        const auto is_there =
            bench.session().value_of("SELECT to_regclass('walrelay.halt') IS NOT NULL") == "t";
        return is_there ? kept("count(*)") : "0";
    }
    std::string witnessed(const std::string& what) {
        return bench.session().value_of(
            "SELECT " + what + " FROM walrelay.witness WHERE slot = " + as_literal(bench.name()));
    }
    bool has_stream() { return bench.broker().state(bench.stream_name()).has_value(); }

    /// Each relay that is started ends in words that have `what`, and changes nothing.
    void expect_halts(const std::string& what, const std::vector<std::string>& flags = {}) {
        std::vector<std::string> words{"run"};
        words.insert(words.end(), flags.begin(), flags.end());
        for (int again = 0; again < 2; ++again) {
            const auto halted = bench.command(words);
            EXPECT_EQ(halted.exit_code, 3) << halted.errors;
            EXPECT_THAT(halted.errors, testing::HasSubstr(what));
            EXPECT_THAT(halted.errors, testing::HasSubstr("fix: "));
        }
        expect_is_kept(what);
    }
    void expect_is_kept(const std::string& what) {
        ASSERT_EQ(kept("count(*)"), "1");
        EXPECT_THAT(kept("reason"), testing::HasSubstr(what));
        EXPECT_THAT(kept("fix"), testing::HasSubstr("walrelay resume"));
        EXPECT_EQ(kept("decision IS NULL"), "t");
    }

    void ask_to_heal() {
        const auto asked = bench.command({"resume", "--heal"});
        EXPECT_EQ(asked.exit_code, 0) << asked.output << asked.errors;
    }
    void make_stream() {
        const auto refused = bench.command({"init"});
        EXPECT_NE(refused.exit_code, 0) << "not by itself";
        EXPECT_THAT(refused.errors, testing::HasSubstr("--new-stream"));
        EXPECT_FALSE(has_stream());
        const auto made = bench.command({"init", "--new-stream"});
        EXPECT_EQ(made.exit_code, 0) << made.errors;
        EXPECT_TRUE(has_stream());
    }
    /// Whatever the order: what was missing comes after what was not.
    void expect_each_once(std::uint64_t first, std::uint64_t last) {
        const auto found = compare(event_ids(first, last), bench.events());
        EXPECT_TRUE(found.missing.empty()) << to_string(found);
        EXPECT_TRUE(found.twice.empty()) << to_string(found);
        EXPECT_TRUE(found.unexpected.empty()) << to_string(found);
        const auto verified = bench.command({"verify"});
        EXPECT_EQ(verified.exit_code, 0) << verified.output << verified.errors;
    }
    /// Up to `last`, of which the last is new.
    void expect_goes_on(std::uint64_t last) {
        insert(last, last);
        ASSERT_TRUE(bench.wait_for_messages(last)) << bench.relay().log();
        ASSERT_TRUE(bench.confirmed_reaches(bench.wal_end()));
        EXPECT_TRUE(eventually(patience, [&] { return halts() == "0"; }));
        bench.stop();
        expect_each_once(1, last);
    }
    void expect_heals(std::uint64_t last) {
        ask_to_heal();
        bench.start();
        expect_goes_on(last);
    }
    /// Nothing was lost, and nobody is asked.
    void expect_is_well(std::uint64_t last) {
        EXPECT_THAT(bench.relay().log(), testing::Not(testing::HasSubstr("has lost messages")));
        insert(last, last);
        ASSERT_TRUE(bench.confirmed_reaches(bench.wal_end())) << bench.relay().log();
        bench.stop();
        EXPECT_EQ(halts(), "0");
    }

    nats_server nats;
    relay_bench bench{shared_postgres(), nats, GetParam()};
};

}  // namespace walrelay::test
