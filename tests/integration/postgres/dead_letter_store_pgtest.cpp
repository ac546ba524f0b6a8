#include "postgres/tables/dead_letter_store.hpp"

#include "postgres/catalog/inspector.hpp"
#include "postgres/catalog/own_tables.hpp"
#include "postgres/tables/dead_letter_desk.hpp"
#include "postgres/tables/replay_outcome.hpp"
#include "postgres_fixture.hpp"
#include "support/eventually.hpp"

#include <gmock/gmock.h>

#include <chrono>

namespace walrelay::test {
namespace {

using testing::HasSubstr;

dead_letter sample(std::uint64_t ordinal = 0) {
    dead_letter letter;
    letter.source = {"public", "events"};
    letter.where = {{18'446'744'073'709'551'615U, 3}, {lsn{0xABCDEF}, {}, ordinal}};
    letter.committed_at = wall_time{std::chrono::microseconds{1'700'000'000'123'457}};
    letter.message_id = "7";
    letter.subject = "events.order.created";
    letter.headers = {{"Nats-Msg-Id", "7"}};
    letter.event = R"([{"name":"id","type":20,"value":"7"}])";
    letter.reason = "too large";
    letter.error_code = 10054;
    letter.attempts = 5;
    return letter;
}

class DeadLetterStore : public postgres_fixture {
protected:
    result<void> store_with(postgres::connection& sql, const std::vector<dead_letter>& letters,
                            const std::string& slot = "relay") {
        std::vector<postgres::letter_to_store> all;
        for (const auto& letter : letters) {
            all.push_back({&letter, {}, slot});
        }
        return run(postgres::store_dead_letters(sql, std::move(all)));
    }

    postgres::connection connect_as(const std::string& role) {
        auto wanted = options(postgres::connection_kind::sql);
        wanted.conninfo += " user=" + role;
        auto sql = run(postgres::connection::open(context_.get_executor(), wanted));
        return std::move(*sql);
    }

    void store(const dead_letter& letter) {
        auto sql = connect();
        const auto stored = store_with(sql, {letter});
        ASSERT_TRUE(stored.has_value()) << to_string(stored.error());
    }

    std::string stored(const std::string& expression) {
        return writer_->value_of("SELECT " + expression + " FROM walrelay.dead_letter");
    }

    /// A role of this test's own; `rights` as CREATE ROLE takes them.
    std::string make_role(const std::string& rights = "") {
        auto role = "role_of_" + database_;
        writer_->execute("CREATE ROLE " + role + " LOGIN " + rights);
        return role;
    }
};

TEST_F(DeadLetterStore, MakesTheTableAndKeepsEveryField) {
    store(sample());
    EXPECT_EQ(stored("position"), "18446744073709551615.3.0000000000ABCDEF.0");
    EXPECT_EQ(stored("source_schema || '/' || source_table"), "public/events");
    EXPECT_EQ(stored("message_id || ' ' || subject"), "7 events.order.created");
    EXPECT_EQ(stored("headers ->> 'Nats-Msg-Id'"), "7");
    EXPECT_EQ(stored("event -> 0 ->> 'value'"), "7");
    EXPECT_EQ(stored("reason || ' ' || error_code || ' ' || attempts"), "too large 10054 5");
    EXPECT_EQ(stored("extract(epoch FROM committed_at)"), "1700000000.123457");
    EXPECT_EQ(stored("retries"), "0");
    EXPECT_EQ(stored("retried_at IS NULL"), "t");
    EXPECT_EQ(stored("dead_at BETWEEN now() - interval '1 hour' AND now()"), "t");
}

/// The server's clock is set back between the request and what became of it.
TEST_F(DeadLetterStore, TellsTheLetterOfARequestByItsIdWhateverTheClockSays) {
    store(sample());
    writer_->execute(
        "UPDATE walrelay.dead_letter SET retries = 1, retried_at = now() + interval '1 hour'");
    auto letter = sample(1);
    letter.message_id = "7;retry-1-1";
    store(letter);
    letter = sample(2);
    letter.message_id = "8;replay-1";
    store(letter);
    auto sql = connect();
    const auto queued = run(postgres::queued_retries(sql, "relay", std::chrono::hours(24)));
    ASSERT_TRUE(queued.has_value()) << to_string(queued.error());
    ASSERT_EQ(queued->size(), 1U);
    EXPECT_TRUE(queued->front().failed);
    ASSERT_TRUE(run(postgres::create_table(sql, postgres::own_table::replay, {})).has_value());
    writer_->execute(
        "INSERT INTO walrelay.replay (slot, range_from, range_until, rows_planned, started_at) "
        "VALUES ('relay', '0/0', '0/0', 1, now() + interval '1 hour')");
    const auto replayed = run(postgres::letters_of_replay(sql, "relay", 1));
    ASSERT_TRUE(replayed.has_value()) << to_string(replayed.error());
    ASSERT_EQ(replayed->size(), 1U);
    EXPECT_EQ(replayed->front().message_id, "8;replay-1");
}

TEST_F(DeadLetterStore, GivesThoseThatASlotSendsAgain) {
    auto sql = connect();
    const auto nowhere = run(postgres::dead_letters_after(sql, lsn{0}, "relay"));
    ASSERT_TRUE(nowhere.has_value()) << to_string(nowhere.error());
    EXPECT_TRUE(nowhere->empty());
    std::vector<position> kept;
    for (const std::uint64_t commit : {0x9UL, 0x1000UL, 0x1001UL, 0xA00000000UL}) {
        auto letter = sample();
        letter.where.at = {lsn{commit}, lsn{commit}, 2};
        store(letter);
        kept.push_back(letter.where);
    }
    const auto found = run(postgres::dead_letters_after(sql, lsn{0x1000}, "relay"));
    ASSERT_TRUE(found.has_value()) << to_string(found.error());
    EXPECT_THAT(*found, testing::UnorderedElementsAre(kept[1], kept[2], kept[3]));
}

TEST_F(DeadLetterStore, KeepsALetterOfEachSlotThatSetsARowAside) {
    auto sql = connect();
    const std::vector<dead_letter> both{sample(1), sample(2)};
    for (const auto* const slot : {"relay", "other", "relay", "other"}) {
        const auto kept = store_with(sql, both, slot);
        ASSERT_TRUE(kept.has_value()) << to_string(kept.error());
    }
    EXPECT_EQ(stored("count(*)"), "4");
    EXPECT_EQ(stored("count(DISTINCT slot)"), "2");
    for (const auto* const slot : {"relay", "other"}) {
        const auto found = run(postgres::dead_letters_after(sql, lsn{0}, slot));
        ASSERT_TRUE(found.has_value()) << to_string(found.error());
        EXPECT_THAT(*found, testing::UnorderedElementsAre(both[0].where, both[1].where));
    }
    const auto nobody = run(postgres::dead_letters_after(sql, lsn{0}, "nobody"));
    EXPECT_TRUE(nobody->empty());
}

/// One of megabytes goes to the server once, and again only where another slot has its position.
TEST_F(DeadLetterStore, KeepsALargeLetterOfEachSlotAndBesideSmallOnes) {
    auto sql = connect();
    auto large = sample(1);
    large.event = R"([{"name":"id","type":25,"value":")" + std::string(2'000'000, 'x') + "\"}]";
    const std::vector<dead_letter> both{large, sample(2)};
    for (const auto* const slot : {"relay", "other", "relay", "other"}) {
        const auto kept = store_with(sql, both, slot);
        ASSERT_TRUE(kept.has_value()) << to_string(kept.error());
    }
    EXPECT_EQ(stored("count(*)"), "4");
    EXPECT_EQ(stored("count(*) FILTER (WHERE length(event::text) > 2000000)"), "2");
    EXPECT_EQ(stored("count(DISTINCT slot)"), "2");
}

/// As 0.2.0 made it.
constexpr const char* earlier_table =
    "CREATE SCHEMA walrelay; CREATE TABLE walrelay.dead_letter (id bigint GENERATED ALWAYS AS "
    "IDENTITY PRIMARY KEY, position text NOT NULL UNIQUE, source_schema text NOT NULL, "
    "source_table text NOT NULL, message_id text, subject text, headers json NOT NULL, event json, "
    "reason text NOT NULL, error_code int NOT NULL, attempts int NOT NULL, committed_at "
    "timestamptz NOT NULL, dead_at timestamptz NOT NULL DEFAULT now(), retries int NOT NULL "
    "DEFAULT 0, retried_at timestamptz)";

TEST_F(DeadLetterStore, GivesTheTableOfAnEarlierVersionASlot) {
    writer_->execute(earlier_table);
    store(sample());
    EXPECT_EQ(stored("slot"), "relay");
}

TEST_F(DeadLetterStore, KeepsLettersInATableOfAnEarlierVersionThatItMayNotChange) {
    writer_->execute(earlier_table);
    const auto role = make_role();
    writer_->execute("GRANT USAGE ON SCHEMA walrelay TO " + role +
                     "; GRANT SELECT, INSERT, UPDATE, DELETE ON walrelay.dead_letter TO " + role);
    auto sql = connect_as(role);
    const auto kept = store_with(sql, {sample(1), sample(2)});
    ASSERT_TRUE(kept.has_value()) << to_string(kept.error());
    EXPECT_EQ(stored("count(*)"), "2");
    const auto found = run(postgres::dead_letters_after(sql, lsn{0}, "relay"));
    ASSERT_TRUE(found.has_value()) << to_string(found.error());
    EXPECT_EQ(found->size(), 2U) << "no other slot is there";
}

TEST_F(DeadLetterStore, KeepsOddCharactersAsTheyAre) {
    auto letter = sample();
    const std::string odd = "a'b\"c\\d{e},f\n\t\x01%$1 \xE2\x82\xAC";
    letter.source = {"Sche.ma\"", odd};
    letter.message_id = odd;
    letter.subject = odd;
    letter.headers = {{odd, odd}, {"", ""}, {"NULL", "NULL"}};
    letter.reason = odd;
    letter.event = R"([{"name":"n","type":114,"value":"\u0000\ud800\u0001"}])";
    store(letter);
    const auto rows = writer_->query(
        "SELECT source_schema, source_table, message_id, subject, reason, event::text, "
        "headers ->> $1, headers ->> '', headers ->> 'NULL' FROM walrelay.dead_letter",
        {odd});
    const sql_row expected = {"Sche.ma\"", odd, odd, odd, odd, letter.event, odd, "", "NULL"};
    EXPECT_EQ(rows, sql_rows{expected});
}

TEST_F(DeadLetterStore, LeavesOutWhatTheMappingDidNotReach) {
    auto letter = sample();
    letter.message_id.clear();
    letter.subject.clear();
    letter.headers.clear();
    letter.event.clear();
    store(letter);
    EXPECT_EQ(stored("message_id IS NULL AND subject IS NULL AND event IS NULL"), "t");
    EXPECT_EQ(stored("headers::text"), "{}");
}

TEST_F(DeadLetterStore, KeepsAPositionOnce) {
    store(sample());
    auto again = sample();
    again.reason = "another";
    store(again);
    EXPECT_EQ(stored("count(*)"), "1");
    EXPECT_EQ(stored("reason"), "too large");
    store(sample(1));
    EXPECT_EQ(stored("count(*)"), "2");
}

TEST_F(DeadLetterStore, OfARetryThatFailsIsTheLetterAgain) {
    store(sample());
    const auto retry = [&](std::uint64_t count, std::uint64_t ordinal) {
        auto letter = sample(ordinal);
        letter.message_id = "7;retry-1-" + std::to_string(count);
        letter.reason = "still too large";
        letter.attempts = 9;
        letter.retry = letter_retry{1, static_cast<std::int64_t>(count)};
        return letter;
    };
    const auto is_asked_for = [&](int count) {
        writer_->execute("UPDATE walrelay.dead_letter SET retry_fate = NULL, retries = " +
                         std::to_string(count) + " WHERE id = 1");
    };
    constexpr const char* shown =
        "string_agg(format('%s %s %s %s %s', id, message_id, retry_fate, reason, attempts), ', ') "
        "FILTER (WHERE retries >= 0)";
    is_asked_for(1);
    store(retry(1, 1));
    store(retry(1, 1));
    EXPECT_EQ(stored(shown), "1 7 failed still too large 9");
    is_asked_for(2);
    store(retry(1, 1));
    EXPECT_EQ(stored(shown), "1 7  still too large 9")
        << "an earlier retry says nothing of this one";
    store(retry(2, 2));
    EXPECT_EQ(stored(shown), "1 7 failed still too large 9");
    EXPECT_EQ(stored("count(event) FILTER (WHERE retries = -1)"), "0");
    auto sql = connect();
    const auto met_again = run(postgres::dead_letters_after(sql, lsn{0}, "relay"));
    ASSERT_TRUE(met_again.has_value()) << to_string(met_again.error());
    EXPECT_EQ(met_again->size(), 3U) << "each stays what it is where the slot sends it again";

    writer_->execute("UPDATE walrelay.dead_letter SET retries = -1, event = NULL WHERE id = 1");
    store(retry(3, 3));
    EXPECT_EQ(stored("max(message_id) FILTER (WHERE retries = 0)"), "7;retry-1-3")
        << "that one was dropped";

    auto declined = retry(4, 4);
    declined.event.clear();
    store(declined);
    EXPECT_EQ(stored("count(*) FILTER (WHERE event IS NULL AND retries = 0)"), "0")
        << "of a retry of which nothing was made the letter that is gone had it all";
}

TEST_F(DeadLetterStore, KeepsManyInOneTransaction) {
    std::vector<dead_letter> many;
    for (std::uint64_t ordinal = 0; ordinal < 1000; ++ordinal) {
        many.push_back(sample(ordinal));
    }
    store(many.front());
    auto sql = connect();
    const auto done = store_with(sql, many);
    ASSERT_TRUE(done.has_value()) << to_string(done.error());
    EXPECT_EQ(stored("count(*)"), "1000");
    EXPECT_EQ(stored("count(DISTINCT xmin::text)"), "2") << "the first was there";
}

TEST_F(DeadLetterStore, MakesTheTableForManyAsForOne) {
    auto sql = connect();
    const auto done = store_with(sql, {sample(1), sample(2)});
    ASSERT_TRUE(done.has_value()) << to_string(done.error());
    EXPECT_EQ(stored("count(*)"), "2");
}

TEST_F(DeadLetterStore, WaitsForTheFlushWhereTheRoleWouldNot) {
    const auto role = make_role("SUPERUSER");
    writer_->execute("ALTER ROLE " + role + " SET synchronous_commit = off");
    auto sql = connect_as(role);
    ASSERT_TRUE(store_with(sql, {sample()}).has_value());
    const auto setting = run(sql.query("SHOW synchronous_commit"));
    EXPECT_EQ(setting->text(0, 0), "on");
}

TEST_F(DeadLetterStore, SaysWhoMustMakeTheTable) {
    const auto role = make_role();
    auto sql = connect_as(role);
    const auto stored = store_with(sql, {sample()});
    ASSERT_TRUE(stored.has_error());
    EXPECT_EQ(stored.error().code, errc::postgres_unsuitable);
    EXPECT_THAT(stored.error().what, HasSubstr("may not create the table walrelay.dead_letter"));
    EXPECT_THAT(stored.error().remedy, HasSubstr("walrelay init"));
    EXPECT_THAT(stored.error().remedy,
                HasSubstr("GRANT USAGE ON SCHEMA walrelay TO \"" + role + "\";"));
}

TEST_F(DeadLetterStore, NeedsNoMoreThanTheGrantsThatItNames) {
    const auto role = make_role();
    auto owner = connect();
    ASSERT_TRUE(
        run(postgres::create_table(owner, postgres::own_table::dead_letter, {})).has_value());
    auto sql = connect_as(role);
    const auto refused = store_with(sql, {sample()});
    ASSERT_TRUE(refused.has_error());
    EXPECT_EQ(refused.error().code, errc::postgres_unsuitable);
    EXPECT_EQ(refused.error().remedy, postgres::grants_sql(postgres::own_table::dead_letter, role));
    writer_->execute(refused.error().remedy);
    const auto granted = store_with(sql, {sample()});
    EXPECT_TRUE(granted.has_value()) << to_string(granted.error());
    EXPECT_TRUE(run(postgres::create_table(sql, postgres::own_table::dead_letter, {})).has_value());
}

TEST_F(DeadLetterStore, NamesATableOfAnotherShape) {
    writer_->execute("CREATE SCHEMA walrelay; CREATE TABLE walrelay.dead_letter (id int)");
    auto sql = connect();
    const auto stored = store_with(sql, {sample()});
    ASSERT_TRUE(stored.has_error());
    EXPECT_EQ(stored.error().code, errc::postgres_unsuitable);
    EXPECT_THAT(stored.error().remedy, HasSubstr("RENAME TO dead_letter_before"));
}

TEST_F(DeadLetterStore, LeavesALostConnectionToTheCaller) {
    auto sql = connect();
    sql.close();
    const auto stored = store_with(sql, {sample()});
    ASSERT_TRUE(stored.has_error());
    EXPECT_EQ(stored.error().code, errc::postgres_lost);
}

TEST_F(DeadLetterStore, ItsFileRunsTwice) {
    const std::string file{postgres::create_table_sql(postgres::own_table::dead_letter)};
    writer_->execute(file);
    writer_->execute(file);
    EXPECT_EQ(stored("count(*)"), "0");
}

TEST_F(DeadLetterStore, AnotherWhoMakesTheTableAtTheSameTimeDoesNotMatter) {
    writer_->execute("BEGIN");
    writer_->execute(std::string{postgres::create_table_sql(postgres::own_table::dead_letter)});
    auto sql = connect();
    std::optional<result<void>> made;
    start(postgres::create_table(sql, postgres::own_table::dead_letter, {}),
          [&](result<void> outcome) { made.emplace(std::move(outcome)); });
    context_.restart();
    context_.poll();
    auto watcher = server().session(database_);
    ASSERT_TRUE(eventually(std::chrono::seconds{20}, [&] {
        return watcher.value_of(
                   "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' "
                   "AND datname = current_database()") == "1";
    }));
    writer_->execute("COMMIT");
    run_until([&] { return made.has_value(); });
    EXPECT_TRUE(made->has_value()) << to_string(made->error());
}

TEST_F(DeadLetterStore, TheInspectorSeesTheTable) {
    const auto role = make_role();
    auto sql = connect_as(role);
    EXPECT_FALSE(run(postgres::inspect(sql, {slot_, publication_, {}}))->dead_letters.exists);
    auto owner = connect();
    ASSERT_TRUE(
        run(postgres::create_table(owner, postgres::own_table::dead_letter, {})).has_value());
    EXPECT_TRUE(run(postgres::inspect(sql, {slot_, publication_, {}}))->dead_letters.exists);
}

}  // namespace
}  // namespace walrelay::test
