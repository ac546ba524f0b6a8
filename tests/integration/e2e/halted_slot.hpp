// A slot that is halted because it was moved past a row.
#pragma once

#include "integration/e2e/relay_bench.hpp"
#include "support/eventually.hpp"

#include <csignal>
#include <filesystem>
#include <string>
#include <vector>

namespace walrelay::test {

class Halt : public e2e_test {
protected:
    Halt() { bench.create_table(); }

    void advance_slot() {
        bench.execute("SELECT pg_replication_slot_advance(" + as_literal(bench.name()) +
                      ", pg_current_wal_lsn())");
    }

    /// The relay finds the slot past row 2 when it comes back to it.
    void advance_under_the_relay() {
        bench.execute(insert_event(1));
        ASSERT_TRUE(bench.confirmed_reaches(bench.wal_end()));
        bench.relay().process().signal(SIGSTOP);
        (void)bench.slot("pg_terminate_backend(active_pid)");
        ASSERT_TRUE(eventually(patience, [&] { return bench.slot("active") == "f"; }));
        bench.execute(insert_event(2));
        advance_slot();
        bench.relay().process().signal(SIGCONT);
    }

    void halt() {
        bench.start();
        advance_under_the_relay();
        ASSERT_EQ(bench.relay().process().wait_exit(patience), 3);
    }

    /// With the configuration that the bench wrote last.
    relay_process another(const std::string& name) {
        return relay_process(
            {.program = WALRELAY_BINARY,
             .arguments = {"run", "--config", (bench.folder() / "walrelay.toml").string()},
             .folder = bench.folder(),
             .name = name});
    }

    std::string kept(const std::string& what) {
        return bench.session().value_of("SELECT " + what + " FROM walrelay.halt");
    }

    std::vector<std::string> ids_in_order() {
        std::vector<std::string> ids;
        for (const auto& event : bench.events()) {
            ids.push_back(event.id);
        }
        return ids;
    }

    /// Without the name of the table, so that the command cannot look: the next start does.
    void resume_blindly() {
        const auto elsewhere = std::filesystem::path(bench.folder()) / "elsewhere";
        std::filesystem::create_directory(elsewhere);
        const auto blind = run_to_end(
            {.program = WALRELAY_BINARY,
             .arguments = {"resume", "--postgres", bench.conninfo(), "--slot", bench.name()},
             .folder = elsewhere,
             .name = "blind"},
            patience);
        ASSERT_EQ(blind.exit_code, 0) << blind.errors;
        EXPECT_TRUE(says(blind.output, "compares the rows of the tables with the stream"));
    }

    bool is_forgotten() {
        return eventually(patience, [&] { return kept("count(*)") == "0"; });
    }

    static testing::AssertionResult says(const std::string& text, const std::string& wanted) {
        return text.find(wanted) == std::string::npos
                   ? testing::AssertionFailure() << "no '" << wanted << "' in: " << text
                   : testing::AssertionSuccess();
    }
};

}  // namespace walrelay::test
