// `walrelay dead-letter` against a real PostgreSQL; no broker and no relay has a part in it.
#include "integration/e2e/relay_bench.hpp"
#include "support/eventually.hpp"
#include "support/temporary_folder.hpp"

#include <fstream>
#include <iterator>

namespace walrelay::test {
namespace {

using std::string_literals::operator""s;

const std::string read = "configuration: no file, only flags and environment variables\n";

class DeadLetterCommand : public testing::Test {
protected:
    DeadLetterCommand() : slot_("dead_" + database_) {}
    ~DeadLetterCommand() override {
        session_.execute(
            "SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots "
            "WHERE database = current_database()");
    }

    relay_start with(std::vector<std::string> words) {
        words.insert(words.begin(), "dead-letter");
        words.insert(words.end(), {"--postgres", shared_postgres().conninfo(database_) + login_,
                                   "--slot", slot_});
        return {.program = WALRELAY_BINARY,
                .arguments = words,
                .folder = folder_.path(),
                .environment = {},
                .name = "command" + std::to_string(++runs_)};
    }
    finished_run run(std::vector<std::string> words) {
        return run_to_end(with(std::move(words)), patience);
    }
    relay_process begin(std::vector<std::string> words) {
        return relay_process(with(std::move(words)));
    }

    void make_table(const std::string& name = "dead_letter") {
        std::ifstream file(WALRELAY_SQL_FOLDER "/" + name + ".sql");
        session_.execute(std::string{std::istreambuf_iterator<char>(file), {}});
    }

    void make_slot(const std::string& plugin = "test_decoding") {
        session_.execute("SELECT pg_create_logical_replication_slot(" + as_literal(slot_) + ", " +
                         as_literal(plugin) + ")");
        make_table("control");
    }

    /// Their ids count from 1.
    void make_letter(const std::string& schema = "public", const std::string& table = "events") {
        (void)session_.query(
            "INSERT INTO walrelay.dead_letter (position, source_schema, source_table, message_id, "
            "headers, event, reason, error_code, attempts, committed_at) "
            "SELECT 'p' || count(*), $1, $2, 'm-7', '{\"Trace\": \"a\"}', $3::json, "
            "'it is' || chr(10) || chr(27) || 'large', 10054, 5, '2026-01-31 12:00:00+00' "
            "FROM walrelay.dead_letter",
            {schema, table,
             R"([{"name":"id","type":20,"value":"7"},{"name":"note","type":25,"value":null}])"});
    }

    /// The rows for the relay in the WAL since the slot was made, as test_decoding prints them.
    std::vector<std::string> retried() {
        std::vector<std::string> rows;
        for (const auto& row :
             session_.query("SELECT data FROM pg_logical_slot_peek_changes(" + as_literal(slot_) +
                            ", NULL, NULL) WHERE data LIKE 'table walrelay.control: INSERT:%'")) {
            rows.push_back(row.front().value_or(""));
        }
        return rows;
    }

    /// What SQL makes of a JSON text.
    std::string of_json(const std::string& json, const std::string& path) {
        return session_.query("SELECT $1::jsonb #>> $2::text[]", {json, path})
            .front()
            .front()
            .value_or("(null)");
    }

    static bool says(const std::string& text, const std::string& part) {
        return text.find(part) != std::string::npos;
    }

    std::string database_ = shared_postgres().fresh_database();
    std::string login_;
    postgres_session session_ = shared_postgres().session(database_);

private:
    std::string slot_;
    temporary_folder folder_{"dead_letter"};
    int runs_ = 0;
};

TEST_F(DeadLetterCommand, SaysThatThereIsNoTableYet) {
    for (const auto& words : {std::vector{"list"s}, {"retry"s, "--all"s}, {"drop"s, "--all"s}}) {
        const auto run_of = run(words);
        EXPECT_EQ(run_of.exit_code, 0) << run_of.errors;
        EXPECT_TRUE(says(run_of.output, "walrelay.dead_letter does not exist yet"));
    }
    EXPECT_EQ(run({"list", "--json"}).output, "{\"dead_letters\":[]}\n");
    for (const auto* action : {"show", "retry", "drop"}) {
        const auto run_of = run({action, "1"});
        EXPECT_EQ(run_of.exit_code, 1) << action;
        EXPECT_TRUE(says(run_of.errors, "does not exist yet")) << run_of.errors;
    }
}

TEST_F(DeadLetterCommand, ListsTheNewestLast) {
    make_table();
    EXPECT_EQ(run({"list"}).output, "no dead letters\n");
    make_letter();
    make_letter("Odd", "na.\"me");
    make_letter();
    const auto all = run({"list"});
    EXPECT_EQ(all.exit_code, 0) << all.errors;
    EXPECT_EQ(all.errors, read);
    EXPECT_TRUE(all.output.starts_with("id  dead_at")) << all.output;
    EXPECT_TRUE(says(all.output, "\n2   ")) << all.output;
    EXPECT_TRUE(says(all.output, "Odd.na.\"me     m-7         it is\\n\\x1blarge  5"))
        << all.output;
    EXPECT_LT(all.output.find("\n1 "), all.output.find("\n3 "));

    const auto newest = run({"list", "--limit", "1"});
    EXPECT_FALSE(says(newest.output, "\n2 ")) << newest.output;
    EXPECT_TRUE(says(newest.output, "\n3 ")) << newest.output;
    EXPECT_TRUE(says(newest.errors, "--limit")) << newest.errors;
    const auto odd = run({"list", "--table", R"("Odd"."na.""me")"});
    EXPECT_TRUE(says(odd.output, "\n2 ")) << odd.output;
    EXPECT_FALSE(says(odd.output, "\n3 ")) << odd.output;

    const auto json = run({"list", "--json"}).output;
    EXPECT_EQ(of_json(json, "{dead_letters,1,source_table}"), "na.\"me");
    EXPECT_EQ(of_json(json, "{dead_letters,2,reason}"), "it is\n\x1blarge");
    EXPECT_EQ(of_json(json, "{dead_letters,3}"), "(null)");
}

TEST_F(DeadLetterCommand, ListsThoseThatAreOpenOrAll) {
    make_table();
    for (int letter = 0; letter < 6; ++letter) {
        make_letter();
    }
    session_.execute(
        "UPDATE walrelay.dead_letter SET retries = 1, retried_at = now(), retry_fate = "
        "(ARRAY['stored', 'failed', 'lost', 'dead_letter', NULL])[id] WHERE id < 6");
    const auto ids = [&](const std::string& which) {
        return session_
            .query(
                "SELECT string_agg(letter ->> 'id' || ' ' || (letter ->> 'state'), ', ') "
                "FROM jsonb_array_elements($1::jsonb -> 'dead_letters') AS letter",
                {run({"list", "--json", which}).output})
            .front()
            .front()
            .value_or("");
    };
    EXPECT_EQ(ids("--open"), "2 open, 3 lost, 5 queued, 6 open");
    EXPECT_EQ(ids("--all"), "1 retried, 2 open, 3 lost, 4 retried, 5 queued, 6 open");
}

TEST_F(DeadLetterCommand, ShowsAllOfOne) {
    make_table();
    make_letter();
    const auto shown = run({"show", "1"});
    EXPECT_EQ(shown.exit_code, 0) << shown.errors;
    for (const auto* part : {"error_code    10054\n", "committed_at  2026-01-31 12:00:00+00\n",
                             "    Trace: a\n", "    id (bigint): 7\n", "    note (text): NULL\n"}) {
        EXPECT_TRUE(says(shown.output, part)) << part << "\n" << shown.output;
    }
    const auto json = run({"show", "1", "--json"}).output;
    EXPECT_EQ(of_json(json, "{event,0,value}"), "7");
    const auto missing = run({"show", "2"});
    EXPECT_EQ(missing.exit_code, 1);
    EXPECT_EQ(missing.errors, read + "there is no dead letter 2\n");
}

TEST_F(DeadLetterCommand, RetryPutsTheRowIntoTheWal) {
    make_table();
    make_letter("Odd", "na.\"me");
    make_slot();
    const auto first = run({"retry", "1"});
    EXPECT_EQ(first.exit_code, 0) << first.errors;
    EXPECT_EQ(first.output, "queued dead letter 1 for retry as retry-1-1\n");
    const auto early = run({"retry", "1"});
    EXPECT_EQ(early.exit_code, 1);
    EXPECT_EQ(early.output, "");
    EXPECT_TRUE(says(early.errors, "dead letter 1 is queued for retry already")) << early.errors;
    session_.execute("UPDATE walrelay.dead_letter SET retry_fate = 'stored'");
    EXPECT_EQ(run({"retry", "1"}).output, "queued dead letter 1 for retry as retry-1-2\n");
    const auto sent = retried();
    ASSERT_EQ(sent.size(), 2U);
    for (const auto* part :
         {"kind[text]:'retry' ", "dead_letter[bigint]:1 retry[integer]:1 ",
          "source_schema[text]:'Odd' source_table[text]:'na.\"me' ", R"("value":"7")"}) {
        EXPECT_TRUE(says(sent[0], part)) << part << "\n" << sent[0];
    }
    EXPECT_TRUE(says(sent[0], "slot[text]:'dead_")) << sent[0];
    EXPECT_TRUE(says(sent[1], "retry[integer]:2")) << sent[1];
    EXPECT_EQ(session_.value_of("SELECT count(*) FROM walrelay.control"), "0");
    EXPECT_EQ(session_.value_of("SELECT retries || ' ' || (retried_at IS NOT NULL) "
                                "FROM walrelay.dead_letter"),
              "2 true");
}

TEST_F(DeadLetterCommand, RetryOfAllLeavesOutWhatWasRetried) {
    make_table();
    make_letter();
    make_letter("public", "others");
    make_letter();
    make_slot();
    EXPECT_EQ(run({"retry", "--all", "--table", "others"}).output,
              "queued dead letter 2 for retry as retry-2-1\n");
    EXPECT_EQ(run({"retry", "--all"}).output,
              "queued dead letter 1 for retry as retry-1-1\n"
              "queued dead letter 3 for retry as retry-3-1\n");
    EXPECT_EQ(run({"retry", "--all"}).output,
              "no dead letters that were never retried, or whose retry failed\n");
    EXPECT_EQ(retried().size(), 3U);
}

TEST_F(DeadLetterCommand, RetryOfAllByTwoAtOnceTakesEachOnce) {
    make_table();
    for (int letter = 0; letter < 3; ++letter) {
        make_letter();
    }
    make_slot();
    session_.execute("BEGIN; SELECT FROM walrelay.dead_letter FOR UPDATE");
    auto first = begin({"retry", "--all"});
    auto second = begin({"retry", "--all"});
    auto watcher = shared_postgres().session(database_);
    ASSERT_TRUE(eventually(patience, [&] {
        return watcher.value_of(
                   "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND "
                   "datname = current_database()") == "2";
    }));
    session_.execute("COMMIT");
    EXPECT_TRUE(first.process().wait_exit(patience));
    EXPECT_TRUE(second.process().wait_exit(patience));
    EXPECT_EQ(retried().size(), 3U);
    EXPECT_EQ(session_.value_of("SELECT max(retries) FROM walrelay.dead_letter"), "1");
}

TEST_F(DeadLetterCommand, RetrySaysWhichAreNotThere) {
    make_table();
    make_letter();
    make_slot();
    const auto partly = run({"retry", "1", "8"});
    EXPECT_EQ(partly.exit_code, 1);
    EXPECT_EQ(partly.output, "queued dead letter 1 for retry as retry-1-1\n");
    EXPECT_EQ(partly.errors, read + "there is no dead letter 8\n");
}

TEST_F(DeadLetterCommand, RetryNeedsASlotThatWouldSeeIt) {
    make_table();
    make_letter();
    const auto refused = run({"retry", "1"});
    EXPECT_EQ(refused.exit_code, 3);
    EXPECT_TRUE(says(refused.errors, "does not exist in database")) << refused.errors;
    EXPECT_EQ(session_.value_of("SELECT retries FROM walrelay.dead_letter"), "0");
}

TEST_F(DeadLetterCommand, RetryNeedsTheTableThatTakesItToTheRelay) {
    make_table();
    make_letter();
    make_slot();
    session_.execute("DROP TABLE walrelay.control");
    const auto refused = run({"retry", "1"});
    EXPECT_EQ(refused.exit_code, 3);
    EXPECT_TRUE(says(refused.errors, "walrelay init")) << refused.errors;
    EXPECT_EQ(session_.value_of("SELECT retries FROM walrelay.dead_letter"), "0");
}

TEST_F(DeadLetterCommand, LettersOfSomebodyElseAreNotRead) {
    session_.execute("CREATE ROLE stranger_of_" + database_ +
                     "; CREATE SCHEMA walrelay AUTHORIZATION stranger_of_" + database_ +
                     "; CREATE VIEW walrelay.dead_letter AS SELECT 1 / 0 AS id");
    const auto refused = run({"list"});
    EXPECT_EQ(refused.exit_code, 3);
    EXPECT_TRUE(says(refused.errors, "belongs to the role stranger_of_")) << refused.errors;
    session_.execute("DROP OWNED BY stranger_of_" + database_ + " CASCADE; DROP ROLE stranger_of_" +
                     database_);
}

TEST_F(DeadLetterCommand, DropsOnlyWhatItIsToldTo) {
    make_table();
    make_letter();
    make_letter("public", "others");
    make_letter();
    make_letter();
    constexpr const char* kept =
        "SELECT coalesce(string_agg(id::text, ',' ORDER BY id), '') FROM walrelay.dead_letter "
        "WHERE retries >= 0";
    const auto one = run({"drop", "1", "9"});
    EXPECT_EQ(one.exit_code, 1);
    EXPECT_EQ(one.output, "dropped 1\n");
    EXPECT_EQ(run({"drop", "--all", "--yes", "--table", "others"}).output, "dropped 1\n");
    EXPECT_EQ(session_.value_of(kept), "3,4");
    const auto unsure = run({"drop", "--all"});
    EXPECT_EQ(unsure.exit_code, 2);
    EXPECT_TRUE(says(unsure.errors, "deletes the content of 2 for good; nothing was dropped"))
        << unsure.errors;
    EXPECT_EQ(session_.value_of(kept), "3,4");
    EXPECT_EQ(run({"drop", "--all", "--yes"}).output, "dropped 2\n");
    EXPECT_EQ(session_.value_of(kept), "");
    EXPECT_EQ(run({"drop", "--all", "--yes"}).output, "dropped 0\n");
    EXPECT_EQ(run({"show", "1"}).exit_code, 1);
    EXPECT_EQ(run({"list", "--json"}).output, "{\"dead_letters\":[]}\n");
    EXPECT_EQ(session_.value_of("SELECT count(*) FROM walrelay.dead_letter WHERE event IS NOT NULL "
                                "OR headers::text <> '{}' OR subject IS NOT NULL"),
              "0")
        << "what a row held goes with its letter";
}

TEST_F(DeadLetterCommand, TableThatIsNotThereIsAnError) {
    make_table();
    make_letter("public", "dropped_since");
    for (const auto& words : std::vector<std::vector<std::string>>{
             {"list"}, {"retry", "--all"}, {"drop", "--all", "--yes"}}) {
        auto mistyped = words;
        mistyped.insert(mistyped.end(), {"--table", "evnets"});
        const auto wrong = run(mistyped);
        EXPECT_EQ(wrong.exit_code, 2) << testing::PrintToString(mistyped);
        EXPECT_TRUE(says(wrong.errors, "table public.evnets is not in database " + database_))
            << wrong.errors;
    }
    EXPECT_EQ(run({"list", "--table", "dropped_since"}).exit_code, 0);
}

TEST_F(DeadLetterCommand, WrongUsageExitsWithTwoAndTouchesNothing) {
    make_table();
    make_letter();
    for (const auto& words :
         std::vector<std::vector<std::string>>{{},
                                               {"lose"},
                                               {"drop"},
                                               {"retry"},
                                               {"drop", "1", "--all"},
                                               {"drop", "x"},
                                               {"drop", "1", "--table", "events"},
                                               {"show"},
                                               {"show", "1", "2"},
                                               {"list", "--limit", "0"},
                                               {"list", "--open", "--all"},
                                               {"list", "--given-up", "--open"},
                                               {"list", "--table", "a.b.c"}}) {
        const auto wrong = run(words);
        EXPECT_EQ(wrong.exit_code, 2) << testing::PrintToString(words) << wrong.output;
        EXPECT_NE(wrong.errors, "") << testing::PrintToString(words);
    }
    EXPECT_EQ(session_.value_of("SELECT count(*) FROM walrelay.dead_letter"), "1");
}

TEST_F(DeadLetterCommand, SaysWhichRightsAreMissing) {
    make_table();
    const auto role = "role_of_" + database_;
    session_.execute("CREATE ROLE " + role + " LOGIN");
    login_ = " user=" + role;
    const auto refused = run({"list"});
    EXPECT_EQ(refused.exit_code, 3);
    EXPECT_TRUE(says(refused.errors, "GRANT USAGE ON SCHEMA walrelay TO \"" + role + "\""))
        << refused.errors;
    session_.execute("GRANT USAGE ON SCHEMA walrelay TO " + role +
                     "; GRANT SELECT, INSERT, UPDATE, DELETE ON walrelay.dead_letter TO " + role);
    make_letter();
    make_slot();
    const auto barred = run({"retry", "1"});
    EXPECT_EQ(barred.exit_code, 3);
    const auto grant = "GRANT SELECT, INSERT, DELETE ON walrelay.control TO \"" + role + "\"";
    EXPECT_TRUE(says(barred.errors, grant)) << barred.errors;
    session_.execute(grant);
    const auto unproved = run({"retry", "1"});
    EXPECT_EQ(unproved.exit_code, 3);
    const auto secret = "GRANT SELECT ON walrelay.control_key TO \"" + role + "\"";
    EXPECT_TRUE(says(unproved.errors, secret)) << unproved.errors;
    session_.execute(secret);
    for (const auto& words : {std::vector{"list"s}, {"show"s, "1"s}, {"retry"s, "1"s}}) {
        EXPECT_EQ(run(words).exit_code, 0) << words.front();
    }
    session_.execute("UPDATE walrelay.dead_letter SET retry_fate = 'stored'");
    EXPECT_EQ(run({"drop", "1"}).exit_code, 0);
}

TEST_F(DeadLetterCommand, ServerThatIsNotThereExitsWithThree) {
    login_ = " port=1";
    const auto lost = run({"list"});
    EXPECT_EQ(lost.exit_code, 3);
    EXPECT_TRUE(says(lost.errors, "PostgreSQL cannot be reached")) << lost.errors;
}

}  // namespace
}  // namespace walrelay::test
