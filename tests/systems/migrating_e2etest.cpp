// docs/migrating.md word by word: its files, commands and statements as they stand there, while
// writers, and the poller wherever the guide does not stop it, go on: there, back, and there again.
#include "systems/busy_service.hpp"
#include "systems/guide.hpp"
#include "systems/old_poller.hpp"
#include "systems/system_bench.hpp"

#include <algorithm>
#include <fstream>
#include <map>

namespace walrelay::test {
namespace {

class Migrating : public testing::TestWithParam<const char*> {
protected:
    void SetUp() override {
        ASSERT_EQ(guide_.size(), 5U);
        const auto tools = bench.folder() / "bin";
        std::filesystem::create_directory(tools);
        std::filesystem::create_symlink(WALRELAY_BINARY, tools / "walrelay");
        std::filesystem::create_symlink(WALRELAY_SQL_FOLDER, bench.folder() / "sql");
        std::ofstream(tools / "psql") << "#!/bin/sh\nexec " << postgres_binary_folder().string()
                                      << "/psql -X -q -d '" << bench.conninfo() << "' \"$@\"\n";
        std::filesystem::permissions(tools / "psql", std::filesystem::perms::owner_all);
        environment_ = {{"PATH", tools.string() + ":/usr/bin:/bin"},
                        {"WALRELAY_POSTGRES_CONNINFO", bench.conninfo() + " user=walrelay"},
                        {"WALRELAY_POSTGRES_PLUGIN", GetParam()},
                        {"WALRELAY_NATS_URLS", system_bench::nats_url()},
                        {"WALRELAY_HTTP_LISTEN", "off"}};
        // So short that a message that is sent twice is there twice.
        bench.broker().create({.name = "EVENTS",
                               .subjects = {"events.>"},
                               .duplicate_window = std::chrono::milliseconds(100)});
    }

    void TearDown() override {
        if (relay_ && HasFailure()) {
            std::cerr << "---- log of the relay\n" << relay_->standard_error() << "----\n";
        }
        relay_.reset();
        if (bench.broker().state("OUTBOX_TRIAL")) {
            bench.broker().remove("OUTBOX_TRIAL");
        }
    }

    [[nodiscard]] const guide_step& step(std::size_t number) const { return guide_[number - 1]; }

    void follow(const std::vector<guide_block>& blocks) {
        ASSERT_FALSE(blocks.empty());
        for (const auto& block : blocks) {
            SCOPED_TRACE(block.text());
            if (block.language == "toml") {
                save(block);
            } else if (block.language == "sql") {
                execute(block.text());
            } else {
                ASSERT_EQ(block.language, "sh");
                for (const auto& line : block.lines) {
                    call(line);
                }
            }
        }
    }

    /// Ctrl-C.
    void stop_relay() {
        relay_->signal(SIGINT);
        ASSERT_EQ(relay_->wait_exit(patience), 0) << relay_->standard_error();
    }

    [[nodiscard]] testing::AssertionResult everything_that_was_there_is_published() {
        const auto now = bench.value_of("SELECT clock_timestamp()");
        return bench.becomes(
            "SELECT count(*) FROM outbox_events WHERE status <> 'published' AND created_at < " +
                as_literal(now) + "::timestamptz",
            "0");
    }

    void poller_works_for_a_while() {
        const auto before = bench.broker().message_count("EVENTS");
        ASSERT_TRUE(bench.broker().wait_for("EVENTS", before + 200, patience));
    }

    /// A week, as far as walrelay can tell: no message of the poller is among those that it looks
    /// back at.
    void relay_works_for_a_week() {
        constexpr std::uint64_t looked_back_at = 8192;
        const auto before = bench.broker().message_count("EVENTS");
        ASSERT_TRUE(bench.broker().wait_for("EVENTS", before + looked_back_at, patience));
    }

    /// As a poller that dies after the broker's answer.
    void send_a_row_and_do_not_mark_it() {
        const auto id = bench.value_of(
            "INSERT INTO outbox_events (id, aggregate_id, aggregate_type, event_type, event_data,"
            " status, version, created_at) VALUES (gen_random_uuid(), 'u', 'user', 'user.created',"
            " '{}', 'pending', 1, clock_timestamp()) RETURNING id");
        (void)bench.broker().publish("events.user.user.created", "{}", {{"Nats-Msg-Id", id}});
    }

    system_bench bench{"events", GetParam()};

private:
    /// The first line names the file.
    void save(const guide_block& block) {
        const std::string appended = "# at the end of ";
        auto name = block.lines.front();
        const bool appends = name.starts_with(appended);
        name = name.substr(appends ? appended.size() : 2);
        std::ofstream(bench.folder() / name, appends ? std::ios::app : std::ios::trunc)
            << block.text();
    }

    /// Until the server has noticed that a relay which has ended reads its slot no more.
    void execute(const std::string& sql) {
        std::string refusal;
        EXPECT_TRUE(eventually(patience, [&] {
            try {
                bench.execute(sql);
                return true;
            } catch (const std::runtime_error& failure) {
                refusal = failure.what();
                return false;
            }
        })) << refusal;
    }

    void call(const std::string& line) {
        const std::string removal = "nats stream rm ";
        if (line.starts_with(removal)) {
            // There is no package of the tool: what it asks of the server is asked here.
            const auto name = line.substr(removal.size());
            bench.broker().remove(name.substr(0, name.find(' ')));
            return;
        }
        command what{.program = "sh",
                     .arguments = {"-c", "exec " + line},
                     .environment = environment_,
                     .folder = bench.folder(),
                     .name = "call" + std::to_string(++calls_)};
        if (line.starts_with("walrelay run")) {
            relay_.emplace(what);
            ASSERT_TRUE(eventually(patience, [&] {
                return relay_->standard_error().find("streaming from slot") != std::string::npos ||
                       !relay_->running();
            }));
            ASSERT_TRUE(relay_->running()) << relay_->standard_error();
            return;
        }
        child_process run(what);
        EXPECT_EQ(run.wait_exit(patience), 0)
            << run.standard_output() << run.standard_error() << "---- log of the relay\n"
            << (relay_ ? relay_->standard_error() : std::string());
    }

    std::vector<guide_step> guide_ = read_guide(WALRELAY_GUIDE);
    std::map<std::string, std::string> environment_;
    std::optional<child_process> relay_;
    int calls_ = 0;
};

TEST_P(Migrating, GoesThereAndBackAndThereAgainAsTheGuideSays) {
    busy_service one(bench);
    busy_service another(bench);
    std::optional<old_poller> poller(bench);
    poller_works_for_a_while();
    follow(step(1).forth);
    follow(step(2).forth);
    poller_works_for_a_while();
    stop_relay();
    follow(step(2).back);
    follow(step(3).forth);

    poller.reset();
    send_a_row_and_do_not_mark_it();
    follow(step(4).forth);
    EXPECT_TRUE(everything_that_was_there_is_published());
    stop_relay();
    follow(step(4).back);
    poller.emplace(bench);
    poller_works_for_a_while();

    poller.reset();
    follow(step(4).forth);
    EXPECT_TRUE(everything_that_was_there_is_published());
    stop_relay();
    // At once once more: walrelay's message is the last of the stream.
    follow(step(4).back);
    follow(step(4).forth);
    relay_works_for_a_week();
    stop_relay();
    follow(step(5).forth);
    follow(step(4).forth);
    one.stop();
    another.stop();
    EXPECT_TRUE(everything_that_was_there_is_published());
    stop_relay();

    auto ids = ids_of(bench.messages());
    std::sort(ids.begin(), ids.end());
    EXPECT_EQ(ids, bench.column_of("SELECT id::text FROM outbox_events ORDER BY id::text"));
    follow(step(4).back);
    follow(step(1).back);
    EXPECT_EQ(bench.value_of("SELECT count(*) FROM pg_roles WHERE rolname = 'walrelay'"), "0");
    EXPECT_EQ(bench.value_of("SELECT count(*) FROM pg_namespace WHERE nspname = 'walrelay'"), "0");
}

INSTANTIATE_TEST_SUITE_P(, Migrating, both_plugins(), plugin_name);

}  // namespace
}  // namespace walrelay::test
