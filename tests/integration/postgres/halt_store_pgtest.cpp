#include "postgres/tables/halt_store.hpp"

#include "postgres/catalog/own_tables.hpp"
#include "postgres_fixture.hpp"

#include <gmock/gmock.h>

namespace walrelay::test {
namespace {

using postgres::halt_decision;
using testing::HasSubstr;

class HaltStore : public postgres_fixture {
protected:
    postgres::connection connect_as(const std::string& role) {
        auto wanted = options(postgres::connection_kind::sql);
        wanted.conninfo += " user=" + role;
        auto sql = run(postgres::connection::open(context_.get_executor(), wanted));
        return std::move(*sql);
    }

    std::string make_role() {
        auto role = "role_of_" + database_;
        writer_->execute("CREATE ROLE " + role + " LOGIN");
        return role;
    }

    void store(const std::string& slot, const std::string& reason = "rows are missing") {
        auto sql = connect();
        const auto stored = run(postgres::store_halt(sql, slot, reason, "look, then resume", {}));
        ASSERT_TRUE(stored.has_value()) << to_string(stored.error());
    }

    bool decides(postgres::connection& sql, const std::string& slot, halt_decision how) {
        const auto done = run(postgres::decide_halt(sql, slot, "", how, "asked for", {}));
        EXPECT_TRUE(done.has_value()) << to_string(done.error());
        return done && *done;
    }

    std::optional<postgres::kept_halt> kept(const std::string& slot) {
        auto sql = connect();
        auto halt = run(postgres::read_halt(sql, slot));
        EXPECT_TRUE(halt.has_value()) << to_string(halt.error());
        return halt ? *halt : std::nullopt;
    }
};

TEST_F(HaltStore, TakesAMissingTableForNoHalt) {
    EXPECT_FALSE(kept("one").has_value());
    auto sql = connect();
    EXPECT_FALSE(run(postgres::has_table(sql, postgres::own_table::halt)).value());
    EXPECT_FALSE(decides(sql, "one", halt_decision::look));
    EXPECT_TRUE(run(postgres::forget_halt(sql, "one", "")).has_value());
}

TEST_F(HaltStore, MakesTheTableAndKeepsEachSlotApart) {
    store("one", "a'b\"c\n%$1 \xE2\x82\xAC");
    const auto halt = kept("one");
    ASSERT_TRUE(halt.has_value());
    EXPECT_EQ(halt->reason, "a'b\"c\n%$1 \xE2\x82\xAC");
    EXPECT_EQ(halt->fix, "look, then resume");
    EXPECT_THAT(halt->halted_at, testing::EndsWith(" UTC"));
    EXPECT_FALSE(halt->decision.has_value());
    EXPECT_FALSE(kept("two").has_value());
}

TEST_F(HaltStore, KeepsTheDecisionThatWasMadeLastAndForgets) {
    store("one");
    auto sql = connect();
    EXPECT_FALSE(decides(sql, "two", halt_decision::look));
    for (const auto each : {halt_decision::look, halt_decision::heal, halt_decision::give_up}) {
        EXPECT_TRUE(decides(sql, "one", each));
        EXPECT_EQ(kept("one")->decision, each) << postgres::to_string(each);
        EXPECT_THAT(kept("one")->decided_at, testing::EndsWith(" UTC"));
    }
    EXPECT_TRUE(run(postgres::forget_halt(sql, "one", "")).has_value());
    EXPECT_FALSE(kept("one").has_value());
}

TEST_F(HaltStore, ANewHaltIsNotDecided) {
    store("one");
    auto sql = connect();
    for (const auto each : {halt_decision::look, halt_decision::heal, halt_decision::give_up}) {
        EXPECT_TRUE(decides(sql, "one", each));
        store("one", "more rows are missing");
        EXPECT_EQ(kept("one")->reason, "more rows are missing");
        EXPECT_FALSE(kept("one")->decision.has_value()) << postgres::to_string(each);
    }
}

/// It was stored while the server's clock was ahead, or by a primary whose clock was.
TEST_F(HaltStore, IsDecidedAlsoWhereItsTimeIsAheadOfTheClock) {
    store("one");
    writer_->execute("UPDATE walrelay.halt SET halted_at = halted_at + interval '1 hour'");
    auto sql = connect();
    for (const auto each : {halt_decision::look, halt_decision::heal, halt_decision::give_up}) {
        EXPECT_TRUE(decides(sql, "one", each));
        EXPECT_EQ(kept("one")->decision, each) << postgres::to_string(each);
    }
    EXPECT_TRUE(decides(sql, "one", halt_decision::look));
    EXPECT_TRUE(run(postgres::note_comparison(sql, "one", kept("one")->which)).has_value());
    EXPECT_EQ(kept("one")->decision, halt_decision::looked);
}

TEST_F(HaltStore, ADecisionDoesNotPassALaterHaltWhoseTimeIsEarlier) {
    store("one");
    auto sql = connect();
    ASSERT_TRUE(decides(sql, "one", halt_decision::give_up));
    writer_->execute(
        "UPDATE walrelay.halt SET halted_at = halted_at + interval '1 hour', decided_at = "
        "decided_at + interval '1 hour'");
    for (const auto version : {"ours", "0.2.0"}) {
        if (version == std::string("ours")) {
            store("one", "more rows are missing");
        } else {
            writer_->execute("UPDATE walrelay.halt SET halted_at = now(), resumed_at = NULL");
        }
        EXPECT_FALSE(kept("one")->decision.has_value()) << version;
    }
}

TEST_F(HaltStore, IsAnotherOneHoweverShortlyAfter) {
    store("one");
    const auto first = kept("one")->which;
    store("one", "more rows are missing");
    const auto second = kept("one")->which;
    EXPECT_NE(first, second);
    auto sql = connect();
    const auto decided =
        run(postgres::decide_halt(sql, "one", first, halt_decision::give_up, "", {}));
    EXPECT_FALSE(decided.value()) << "it was decided of the first";
    EXPECT_FALSE(kept("one")->decision.has_value());
    EXPECT_TRUE(decides(sql, "one", halt_decision::look));
    EXPECT_TRUE(run(postgres::note_comparison(sql, "one", first)).has_value());
    EXPECT_EQ(kept("one")->decision, halt_decision::look);
    EXPECT_FALSE(run(postgres::forget_halt(sql, "one", first)).value());
    ASSERT_TRUE(kept("one").has_value());
    EXPECT_TRUE(run(postgres::forget_halt(sql, "one", second)).value());
    EXPECT_FALSE(kept("one").has_value());
}

TEST_F(HaltStore, KeepsThatHealingIsAskedForAlsoWhereNothingIsHalted) {
    auto sql = connect();
    EXPECT_TRUE(decides(sql, "one", halt_decision::heal));
    const auto halt = kept("one");
    ASSERT_TRUE(halt.has_value());
    EXPECT_EQ(halt->decision, halt_decision::heal);
    EXPECT_EQ(halt->reason, "asked for");
}

/// It goes on only where resumed_at is set, and then without the rows.
TEST_F(HaltStore, LetsARelayOf020GoOnOnlyWhereRowsAreGivenUp) {
    store("one");
    auto sql = connect();
    for (const auto each : {halt_decision::give_up, halt_decision::look, halt_decision::heal}) {
        EXPECT_TRUE(decides(sql, "one", each));
        EXPECT_EQ(writer_->value_of("SELECT resumed_at IS NOT NULL FROM walrelay.halt"),
                  each == halt_decision::give_up ? "t" : "f");
    }
}

TEST_F(HaltStore, ReadsATableOf020AndCompletesItOnceSomethingIsDecided) {
    writer_->execute(
        "CREATE SCHEMA walrelay; CREATE TABLE walrelay.halt (slot text PRIMARY KEY, halted_at "
        "timestamptz NOT NULL DEFAULT now(), reason text NOT NULL, fix text NOT NULL, resumed_at "
        "timestamptz)");
    store("one");
    EXPECT_FALSE(kept("one")->decision.has_value());
    writer_->execute("UPDATE walrelay.halt SET resumed_at = now()");
    EXPECT_EQ(kept("one")->decision, halt_decision::look);
    auto sql = connect();
    EXPECT_TRUE(decides(sql, "one", halt_decision::heal));
    EXPECT_EQ(kept("one")->decision, halt_decision::heal);
    // As that version writes it.
    writer_->execute("UPDATE walrelay.halt SET halted_at = clock_timestamp(), resumed_at = NULL");
    EXPECT_FALSE(kept("one")->decision.has_value());
}

/// Of the halt and the decision that it was made for: others may have come meanwhile.
TEST_F(HaltStore, NotesAComparison) {
    store("one");
    auto sql = connect();
    const auto compared = [&] {
        const auto done = run(postgres::note_comparison(sql, "one", kept("one")->which));
        EXPECT_TRUE(done.has_value()) << to_string(done.error());
        return kept("one")->decision;
    };
    EXPECT_EQ(compared(), std::nullopt) << "nobody has resumed it";
    ASSERT_TRUE(decides(sql, "one", halt_decision::look));
    EXPECT_EQ(compared(), halt_decision::looked);
    ASSERT_TRUE(decides(sql, "one", halt_decision::heal));
    EXPECT_EQ(compared(), halt_decision::heal);
    ASSERT_TRUE(decides(sql, "one", halt_decision::look));
    store("one", "for another reason");
    EXPECT_EQ(compared(), std::nullopt);
    // As 0.2.0 resumes.
    writer_->execute("UPDATE walrelay.halt SET resumed_at = now()");
    EXPECT_EQ(compared(), halt_decision::looked);
}

TEST_F(HaltStore, SaysWhoMustMakeTheTable) {
    const auto role = make_role();
    auto sql = connect_as(role);
    const auto stored = run(postgres::store_halt(sql, "one", "rows are missing", "look", {}));
    ASSERT_TRUE(stored.has_error());
    EXPECT_EQ(stored.error().code, errc::postgres_unsuitable);
    EXPECT_THAT(stored.error().what, HasSubstr("may not create the table walrelay.halt"));
    EXPECT_THAT(stored.error().remedy, HasSubstr("walrelay init"));
    EXPECT_FALSE(run(postgres::read_halt(sql, "one")).value().has_value());
}

TEST_F(HaltStore, NeedsNoMoreThanTheGrantsThatItNames) {
    const auto role = make_role();
    store("one");
    auto sql = connect_as(role);
    const auto refused = run(postgres::read_halt(sql, "one"));
    ASSERT_TRUE(refused.has_error());
    EXPECT_EQ(refused.error().code, errc::postgres_unsuitable);
    EXPECT_EQ(refused.error().remedy, postgres::grants_sql(postgres::own_table::halt, role));
    writer_->execute(refused.error().remedy);
    EXPECT_TRUE(run(postgres::read_halt(sql, "one")).value().has_value());
    EXPECT_TRUE(run(postgres::create_table(sql, postgres::own_table::halt, {})).has_value());
    EXPECT_TRUE(run(postgres::store_halt(sql, "one", "again", "look", {})).has_value());
    EXPECT_TRUE(decides(sql, "one", halt_decision::look));
    EXPECT_TRUE(run(postgres::forget_halt(sql, "one", "")).has_value());
}

TEST_F(HaltStore, RunsNothingThatSomebodyElseWrote) {
    writer_->execute(
        "CREATE SCHEMA walrelay; CREATE VIEW walrelay.halt AS SELECT 'one' AS slot, now() AS "
        "halted_at, 'r' AS reason, 'f' AS fix, now() AS resumed_at");
    auto sql = connect();
    const auto refused = run(postgres::read_halt(sql, "one"));
    ASSERT_TRUE(refused.has_error());
    EXPECT_THAT(refused.error().what, HasSubstr("not an ordinary table"));
}

TEST_F(HaltStore, KeepsNothingOnAReadOnlyServer) {
    store("one");
    auto sql = connect();
    ASSERT_TRUE(run(sql.query("SET default_transaction_read_only = on")).has_value());
    const auto refused = run(postgres::store_halt(sql, "one", "again", "look", {}));
    ASSERT_TRUE(refused.has_error());
    EXPECT_THAT(refused.error().what, HasSubstr("it is a standby, or set read-only"));
}

}  // namespace
}  // namespace walrelay::test
