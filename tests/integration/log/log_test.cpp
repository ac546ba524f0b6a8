#include "log/log.hpp"

#include "log/log_memory.hpp"
#include "support/temporary_folder.hpp"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

namespace walrelay {
namespace {

/// Standard error goes to a file meanwhile.
class Log : public testing::Test {
protected:
    Log() {
        const int file =
            open(path().c_str(), O_CREAT | O_WRONLY | O_APPEND, S_IRUSR | S_IWUSR);  // NOLINT
        EXPECT_GE(dup2(file, STDERR_FILENO), 0);
        close(file);
    }
    ~Log() override {
        unsetenv("JOURNAL_STREAM");
        dup2(usual_, STDERR_FILENO);
        close(usual_);
    }

    [[nodiscard]] std::filesystem::path path() const { return folder_.path() / "log"; }

    /// All of it, without the times.
    [[nodiscard]] std::vector<std::string> written() const {
        std::ifstream file(path());
        std::vector<std::string> found;
        for (std::string line; std::getline(file, line);) {
            const auto time = line.find("20");
            constexpr std::size_t time_bytes = 24;
            found.push_back(time == std::string::npos
                                ? line
                                : line.substr(0, time) + line.substr(time + time_bytes));
        }
        return found;
    }

    static void lose_postgres() {
        log<"postgres_lost">("gone", with<"error">(errc::postgres_lost),
                             with<"retry_seconds">(std::chrono::milliseconds(100)));
    }

    using lines = std::vector<std::string>;

private:
    test::temporary_folder folder_{"log"};
    int usual_ = dup(STDERR_FILENO);
};

TEST_F(Log, WritesLinesOfItsLevelAndAbove) {
    set_up_log({.level = config::log_level::warn});
    log<"resumed">("resumed");
    lose_postgres();
    end_log();
    EXPECT_EQ(written(),
              lines{" warning gone [postgres_lost error=postgres_lost retry_seconds=0.100]"});
}

TEST_F(Log, WritesAtItsEndWhatItHasCounted) {
    set_up_log({});
    for (int count = 0; count < 15; ++count) {
        lose_postgres();
    }
    end_log();
    const auto all = written();
    ASSERT_EQ(all.size(), 2U);
    EXPECT_EQ(all[1],
              " warning again, 14 times in 0 s: gone [postgres_lost error=postgres_lost "
              "retry_seconds=0.100 repeats=14 repeat_seconds=0.000]");
}

TEST_F(Log, WritesOneObjectALine) {
    set_up_log({.format = config::log_format::json});
    log<"resumed">("so it is");
    end_log();
    EXPECT_EQ(written(),
              lines{R"({"time":"","level":"info","event":"resumed","message":"so it is"})"});
}

TEST_F(Log, TellsTheJournalOfPriorities) {
    struct stat of {};
    ASSERT_EQ(stat(path().c_str(), &of), 0);
    const auto stream = std::to_string(of.st_dev) + ":" + std::to_string(of.st_ino);
    ASSERT_EQ(setenv("JOURNAL_STREAM", stream.c_str(), 1), 0);
    set_up_log({});
    log<"resumed">("resumed");
    log<"still_halted">("halted", with<"error">(errc::halted));
    end_log();
    EXPECT_EQ(written(), (lines{"<6> info    resumed [resumed]",
                                "<3> error   halted [still_halted error=halted]"}));
}

TEST_F(Log, TellsNobodyElseOfPriorities) {
    ASSERT_EQ(setenv("JOURNAL_STREAM", "1:2", 1), 0);
    set_up_log({});
    log<"resumed">("resumed");
    end_log();
    EXPECT_EQ(written(), lines{" info    resumed [resumed]"});
}

TEST_F(Log, TakesLinesOfSeveralThreads) {
    constexpr std::size_t each = 200;
    set_up_log({});
    // No two of one kind, which would be counted.
    const auto write = [](char of) {
        for (std::size_t count = 1; count <= each; ++count) {
            log<"resumed">(std::string(count, of));
        }
    };
    std::thread other(write, 'a');
    write('b');
    other.join();
    end_log();
    lines expected;
    for (std::size_t count = 1; count <= each; ++count) {
        expected.push_back(" info    " + std::string(count, 'a') + " [resumed]");
        expected.push_back(" info    " + std::string(count, 'b') + " [resumed]");
    }
    auto found = written();
    std::ranges::sort(found);
    std::ranges::sort(expected);
    EXPECT_EQ(found, expected);
}

TEST_F(Log, RemembersTheLastLinesWithTheirEvents) {
    set_up_log({});
    log<"resumed">("resumed");
    log<"resumed">("the last one");
    end_log();
    const auto all = remembered_log().lines();
    ASSERT_FALSE(all.empty());
    EXPECT_EQ(all.back().event, "resumed");
    EXPECT_EQ(all.back().level, "info");
    EXPECT_EQ(all.back().text, "the last one");
}

}  // namespace
}  // namespace walrelay
