// What the program is built with, as the file itself shows it.
#include "integration/e2e/relay_bench.hpp"
#include "support/child_process.hpp"
#include "support/eventually.hpp"
#include "support/temporary_folder.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <regex>

namespace walrelay::test {
namespace {

class Hardening : public testing::Test {
protected:
    /// What a tool of binutils says of the program.
    std::string said(const std::string& tool, std::vector<std::string> words) {
        words.emplace_back(WALRELAY_BINARY);
        const auto run = run_to_end({.program = tool,
                                     .arguments = std::move(words),
                                     .folder = folder_.path(),
                                     .environment = {},
                                     .name = "tool" + std::to_string(++runs_)},
                                    patience);
        EXPECT_EQ(run.exit_code, 0) << run.errors;
        return run.output;
    }
    static bool has(const std::string& text, const std::string& pattern) {
        return std::regex_search(text, std::regex(pattern));
    }

private:
    temporary_folder folder_{"hardening"};
    int runs_ = 0;
};

TEST_F(Hardening, AddressesAreRandomAndTablesOfFunctionsReadOnly) {
    const auto dynamic = said("readelf", {"-hdW"});
    EXPECT_TRUE(has(dynamic, R"(Type:\s+DYN)")) << dynamic;
    EXPECT_TRUE(has(dynamic, R"(FLAGS_1\).*NOW.*PIE)")) << dynamic;
    EXPECT_FALSE(has(dynamic, "RPATH|RUNPATH|TEXTREL")) << dynamic;
    const auto segments = said("readelf", {"-lW"});
    EXPECT_TRUE(has(segments, "GNU_RELRO")) << segments;
    EXPECT_TRUE(has(segments, R"(GNU_STACK .* RW +0x)")) << segments;
    EXPECT_FALSE(has(segments, "RWE")) << segments;
}

TEST_F(Hardening, WritesBeyondAnObjectAreNoticed) {
    const auto symbols = said("readelf", {"--dyn-syms", "-W"});
    EXPECT_TRUE(has(symbols, "__stack_chk_fail")) << symbols;
    EXPECT_TRUE(has(symbols, "__[a-z]+_chk@GLIBC")) << symbols;
    EXPECT_TRUE(has(symbols, "__glibcxx_assert_fail")) << symbols;
}

#ifdef __x86_64__
TEST_F(Hardening, FunctionsBeginWhereJumpsMayLand) {
    const auto code = said("objdump", {"-d", "--disassemble=main"});
    EXPECT_TRUE(has(code, "<main>:\n[^\n]*endbr64")) << code;
}
#endif

/// Files of a process in /proc belong to root where it is not dumpable, see proc(5).
uid_t owner_in_proc(const child_process& of, const char* file) {
    struct stat found {};
    const auto path = "/proc/" + std::to_string(of.pid()) + "/" + file;
    return stat(path.c_str(), &found) == 0 ? found.st_uid : uid_t(-1);
}

TEST(HardenedProcess, LeavesNoCoreDump) {
    // Root's own files would tell nothing.
    const auto nobody = geteuid() == 0 ? std::optional(find_account("nobody")) : std::nullopt;
    const temporary_folder folder("core_dump");
    const auto program = folder.path() / "walrelay";
    std::filesystem::copy_file(WALRELAY_BINARY, program);
    const auto configuration = folder.path() / "walrelay.toml";
    ASSERT_EQ(mkfifo(configuration.c_str(), 0644), 0);
    using std::filesystem::perms;
    std::filesystem::permissions(folder.path(), perms(0755));
    // It waits for its configuration, with all that main does before.
    const child_process tested({.program = program.string(),
                                .arguments = {"run", "--config", configuration.string()},
                                .environment = {},
                                .run_as = nobody,
                                .folder = folder.path(),
                                .name = "walrelay"});
    int writing = -1;
    ASSERT_TRUE(eventually(patience, [&] {
        writing = open(configuration.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC);
        return writing >= 0;
    })) << tested.standard_error();
    EXPECT_EQ(owner_in_proc(tested, "environ"), 0U);
    close(writing);
}

}  // namespace
}  // namespace walrelay::test
