// The outbox tables of well-known libraries: the file that `walrelay config --table` prints for
// each passes `check`, and a message has id, type, subject and payload.
#include "integration/e2e/known_tables.hpp"

#include "integration/e2e/relay_bench.hpp"

#include <gmock/gmock.h>

#include <fstream>

namespace walrelay::test {
namespace {

using testing::HasSubstr;

class KnownTables : public testing::TestWithParam<known_table> {
protected:
    void SetUp() override { database().execute(std::string(GetParam().definition)); }

    /// The stream's subjects are those of the printed file, which no other test may have.
    void TearDown() override {
        const auto gone = command({"drop", "--execute", "--with-stream", "--with-schema"});
        EXPECT_EQ(gone.exit_code, 0) << gone.output << gone.errors;
    }

    [[nodiscard]] postgres_session database() const { return shared_postgres().session(name_); }

    relay_start start_of(std::vector<std::string> words) {
        return {.program = WALRELAY_BINARY,
                .arguments = std::move(words),
                .folder = folder_.path(),
                .environment = {{"WALRELAY_POSTGRES_CONNINFO", shared_postgres().conninfo(name_)},
                                {"WALRELAY_POSTGRES_SLOT", name_},
                                {"WALRELAY_NATS_URLS", shared_nats().url()},
                                {"WALRELAY_NATS_STREAM", name_},
                                {"WALRELAY_HTTP_LISTEN", "127.0.0.1:0"}},
                .name = "walrelay" + std::to_string(++commands_)};
    }

    finished_run command(std::vector<std::string> words) {
        return run_to_end(start_of(std::move(words)), patience);
    }

    void write_file(const std::string& text) {
        std::ofstream(folder_.path() / "walrelay.toml") << text;
    }

    std::string name_ = shared_postgres().fresh_database();
    temporary_folder folder_{"known"};
    int commands_ = 0;
};

TEST_P(KnownTables, AreRelayedWithTheFileThatIsPrinted) {
    const auto& table = GetParam();
    const auto printed = command({"config", "--table", std::string(table.table)});
    ASSERT_EQ(printed.exit_code, 0) << printed.errors;
    write_file(printed.output);
    for (const auto line : table.proposed) {
        EXPECT_THAT(printed.output, HasSubstr(line));
    }
    const auto checked = command({"check"});
    EXPECT_EQ(checked.exit_code, 0) << checked.output << checked.errors;
    ASSERT_EQ(command({"init"}).exit_code, 0);
    relay_process relay(start_of({"run"}));
    database().execute(std::string(table.insert));
    stream_reader broker(shared_nats().url());
    ASSERT_TRUE(broker.wait_for(name_, 1, patience)) << relay.log();
    const auto message = broker.read(name_).front();
    EXPECT_EQ(message.subject, table.subject);
    EXPECT_EQ(message.header("Nats-Msg-Id"), table.id);
    for (const auto part : table.body) {
        EXPECT_THAT(message.body, HasSubstr(part));
    }
    EXPECT_EQ(relay.stop(patience), 0) << relay.log();
}

INSTANTIATE_TEST_SUITE_P(, KnownTables, testing::ValuesIn(known_tables),
                         [](const auto& of) { return std::string(of.param.name); });

class UnknownTables : public testing::Test {
protected:
    finished_run config_of(const std::string& definition, const std::string& columns = "") {
        const auto name = shared_postgres().fresh_database();
        shared_postgres().session(name).execute(definition);
        return run_to_end({.program = WALRELAY_BINARY,
                           .arguments = {"config", "--postgres", shared_postgres().conninfo(name),
                                         "--table", "events"},
                           .folder = folder_.path(),
                           .environment = {{"WALRELAY_OUTBOX_COLUMNS", columns}},
                           .name = "config" + std::to_string(++commands_)},
                          patience);
    }

protected:
    temporary_folder folder_{"unknown"};
    int commands_ = 0;
};

TEST_F(UnknownTables, AreToldWithTheirColumnsAndWhatIsMissing) {
    const auto told = config_of("CREATE TABLE events (id uuid PRIMARY KEY, kind text, blob bytea)");
    EXPECT_EQ(told.exit_code, 1);
    EXPECT_EQ(told.output, "");
    EXPECT_THAT(
        told.errors,
        HasSubstr("no column of table public.events has a name that tells that it holds the "
                  "payload; its columns are id, kind, blob; fix: name it: "
                  "WALRELAY_OUTBOX_COLUMNS="));
    // A large object is not in the row.
    EXPECT_EQ(config_of("CREATE TABLE events (id uuid PRIMARY KEY, payload oid)").exit_code, 1);
}

TEST_F(UnknownTables, AreFilledInWithWhatIsNamed) {
    const auto printed = config_of("CREATE TABLE events (nr bigint PRIMARY KEY, blob jsonb)",
                                   "{ id = \"nr\", payload = \"blob\" }");
    EXPECT_EQ(printed.exit_code, 0) << printed.errors;
    EXPECT_THAT(printed.output, HasSubstr("columns = { id = \"nr\", payload = \"blob\" }"));
}

TEST_F(UnknownTables, AreFoundByTheirLooks) {
    const auto name = shared_postgres().fresh_database();
    const auto list = [&] {
        return run_to_end(
            {.program = WALRELAY_BINARY,
             .arguments = {"config", "--list", "--postgres", shared_postgres().conninfo(name)},
             .folder = folder_.path(),
             .name = "list" + std::to_string(++commands_)},
            patience);
    };
    auto session = shared_postgres().session(name);
    session.execute("CREATE TABLE customers (id uuid, name text, data jsonb)");
    const auto none = list();
    EXPECT_EQ(none.exit_code, 1);
    EXPECT_EQ(none.output, "");
    EXPECT_THAT(none.errors,
                HasSubstr("none of the 1 tables of the database looks like an outbox"));
    session.execute(
        "CREATE SCHEMA walrelay; CREATE TABLE walrelay.outbox (id uuid, payload jsonb);"
        "CREATE TABLE audit_events (id bigint, kind text, payload jsonb);"
        "CREATE TABLE \"OutboxMessages\" (\"Id\" uuid, \"Type\" text, \"Content\" text);"
        "CREATE TABLE parts (id bigint, aggregate_id text, payload text) PARTITION BY LIST (id);"
        "CREATE TABLE part_1 PARTITION OF parts FOR VALUES IN (1)");
    const auto shown = list();
    EXPECT_EQ(shown.exit_code, 0) << shown.errors;
    EXPECT_EQ(shown.output,
              "public.\"OutboxMessages\"\n"
              "    id = Id, event_type = Type, payload = Content\n"
              "public.audit_events\n"
              "    id = id, payload = payload\n"
              "public.parts\n"
              "    id = id, aggregate_id = aggregate_id, payload = payload\n");
    EXPECT_THAT(shown.errors, HasSubstr("--table 'public.\"OutboxMessages\"' > walrelay.toml"));
}

TEST_F(UnknownTables, OfTheSameNameInAnotherCaseAreMeant) {
    const auto told = config_of("CREATE TABLE \"Events\" (id uuid, payload jsonb)");
    EXPECT_EQ(told.exit_code, 1);
    EXPECT_THAT(told.errors, HasSubstr("did you mean public.\"Events\"? write --table "
                                       "'public.\"Events\"'"));
}

class WithoutPayload : public e2e_test {};

TEST_P(WithoutPayload, IsRefusedUnlessItIsMeant) {
    bench.execute(
        "CREATE TABLE outbox_events (id uuid PRIMARY KEY, aggregate_type text NOT NULL, "
        "event_type text NOT NULL, blob jsonb)");
    const std::string refusal =
        "table public.outbox_events has no column event_data or payload, so that every event would "
        "come without its payload; its columns are id, aggregate_type, event_type, blob";
    const auto checked = bench.command({"check"});
    EXPECT_EQ(checked.exit_code, 1);
    EXPECT_THAT(checked.output, HasSubstr(refusal));
    const auto run = bench.command({"run"});
    EXPECT_EQ(run.exit_code, 3);
    EXPECT_THAT(run.errors, HasSubstr(refusal));
    bench.set_outbox(
        "[[outbox]]\ntable = \"public.outbox_events\"\ncolumns = { payload = \"\" }\n"
        "subject = \"%.{aggregate_type}.{event_type}\"\n");
    EXPECT_EQ(bench.command({"check"}).exit_code, 0);
    bench.start();
    bench.execute("INSERT INTO outbox_events VALUES (gen_random_uuid(), 'user', 'created', '1')");
    ASSERT_TRUE(bench.wait_for_messages(1));
    EXPECT_EQ(bench.messages().front().body.find("event_data"), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(, WithoutPayload, both_plugins(), plugin_name);

}  // namespace
}  // namespace walrelay::test
