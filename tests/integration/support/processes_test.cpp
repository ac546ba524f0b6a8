// Folders and processes of tests go away, whatever becomes of the test.
#include "support/child_process.hpp"
#include "support/eventually.hpp"
#include "support/free_port.hpp"
#include "support/temporary_folder.hpp"

#include <gtest/gtest.h>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <set>

namespace walrelay::test {
namespace {

constexpr std::chrono::seconds patience{20};

/// Runs `act` in a process of its own that is killed right after, and returns what `act` did.
std::string in_a_test_that_crashes(const std::function<std::string()>& act) {
    std::array<int, 2> ends{};
    EXPECT_EQ(pipe(ends.data()), 0);
    const pid_t crashing = fork();
    if (crashing == 0) {
        const auto text = act();
        (void)!write(ends[1], text.data(), text.size());
        kill(getpid(), SIGKILL);
    }
    close(ends[1]);
    waitpid(crashing, nullptr, 0);
    std::array<char, 4096> text{};
    const auto length = read(ends[0], text.data(), text.size());
    close(ends[0]);
    return {text.data(), static_cast<std::size_t>(length)};
}

TEST(TemporaryFolder, IsThereAndIsGoneWithItsOwner) {
    std::filesystem::path path;
    {
        const temporary_folder folder("own");
        path = folder.path();
        std::filesystem::create_directories(path / "deep" / "down");
        std::ofstream(path / "deep" / "file") << "content";
        EXPECT_TRUE(std::filesystem::is_directory(path));
    }
    EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(TemporaryFolder, IsGoneAfterATestThatCrashed) {
    const auto path = in_a_test_that_crashes([] {
        static const temporary_folder folder("crash");
        std::ofstream(folder.path() / "file") << "content";
        return folder.path().string();
    });
    ASSERT_NE(path, "");
    EXPECT_TRUE(eventually(patience, [&] { return !std::filesystem::exists(path); }));
}

TEST(ChildProcess, TellsHowItEndedAndWhatItSaid) {
    const temporary_folder folder("child");
    child_process said({.program = "sh",
                        .arguments = {"-c", "echo out; echo $WORD >&2; exit 7"},
                        .environment = {{"WORD", "err"}},
                        .folder = folder.path()});
    EXPECT_EQ(said.wait_exit(patience), 7);
    EXPECT_EQ(said.standard_output(), "out\n");
    EXPECT_EQ(said.standard_error(), "err\n");
    EXPECT_FALSE(said.running());
}

TEST(ChildProcess, OfAProgramThatIsNotThereEndsWith127) {
    const temporary_folder folder("child");
    child_process none({.program = "no-such-program", .folder = folder.path()});
    EXPECT_EQ(none.wait_exit(patience), 127);
}

TEST(ChildProcess, FindsAServerThatTheUsersPathLacks) {
    const temporary_folder folder("child");
    const std::string path = std::getenv("PATH");
    setenv("PATH", "/usr/bin:/bin", 1);
    child_process server(
        {.program = "nats-server", .arguments = {"--version"}, .folder = folder.path()});
    setenv("PATH", path.c_str(), 1);
    EXPECT_EQ(server.wait_exit(patience), 0) << server.standard_error();
}

TEST(ChildProcess, EndedByASignalSaysWhich) {
    const temporary_folder folder("child");
    child_process sleeper({.program = "sleep", .arguments = {"1000"}, .folder = folder.path()});
    EXPECT_TRUE(sleeper.running());
    EXPECT_GT(sleeper.resident_peak_bytes(), 0U);
    EXPECT_EQ(sleeper.wait_exit(std::chrono::milliseconds(10)), std::nullopt);
    sleeper.signal(SIGTERM);
    EXPECT_EQ(sleeper.wait_exit(patience), 128 + SIGTERM);
}

TEST(ChildProcess, DoesNotOutliveItsOwner) {
    const temporary_folder folder("child");
    pid_t pid = 0;
    {
        const child_process sleeper(
            {.program = "sleep", .arguments = {"1000"}, .folder = folder.path()});
        pid = sleeper.pid();
    }
    EXPECT_EQ(kill(pid, 0), -1);
}

TEST(ChildProcess, DoesNotOutliveATestThatCrashed) {
    const temporary_folder folder("child");
    const auto pid = in_a_test_that_crashes([&] {
        static const child_process sleeper(
            {.program = "sleep", .arguments = {"1000"}, .folder = folder.path()});
        return std::to_string(sleeper.pid());
    });
    ASSERT_NE(pid, "");
    // It stays a zombie for as long as nobody collects it.
    EXPECT_TRUE(eventually(patience, [&] {
        std::ifstream status("/proc/" + pid + "/status");
        const std::string text{std::istreambuf_iterator<char>(status), {}};
        return text.empty() || text.find("State:\tZ") != std::string::npos;
    }));
}

TEST(FreePort, IsAnotherOneEachTime) {
    std::set<std::uint16_t> ports;
    constexpr std::size_t times = 20;
    for (std::size_t count = 0; count < times; ++count) {
        ports.insert(free_port());
    }
    EXPECT_GT(ports.size(), times / 2);
    EXPECT_FALSE(ports.contains(0));
}

TEST(Eventually, AsksUntilTheConditionHolds) {
    int asked = 0;
    EXPECT_TRUE(eventually(patience, [&] { return ++asked == 3; }));
    EXPECT_EQ(asked, 3);
    EXPECT_FALSE(eventually(std::chrono::milliseconds(10), [] { return false; }));
}

TEST(Throughout, FailsAtTheFirstBreach) {
    int asked = 0;
    EXPECT_FALSE(throughout(patience, [&] { return ++asked < 3; }));
    EXPECT_EQ(asked, 3);
    EXPECT_TRUE(throughout(std::chrono::milliseconds(10), [] { return true; }));
}

}  // namespace
}  // namespace walrelay::test
