// The man page and the completions say what the program parses. To write them again:
// WALRELAY_WRITE_PAGES=1 app_tests --gtest_filter='CommandPages.*'
#include "integration/app/command_pages.hpp"

#include "app/command_line.hpp"
#include "support/child_process.hpp"
#include "support/temporary_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>

namespace walrelay::app {
namespace {

using testing::HasSubstr;

std::vector<described_command> commands() {
    CLI::App program;
    command_line line;
    describe_program(program, line);
    return commands_of(program);
}

std::string path_of(const std::string& name) {
    return WALRELAY_SOURCE_DIR "/" + name;
}

void expect_file(const std::string& name, const std::string& wanted) {
    if (std::getenv("WALRELAY_WRITE_PAGES") != nullptr) {
        std::ofstream(path_of(name)) << wanted;
    }
    std::ifstream file(path_of(name));
    std::stringstream text;
    text << file.rdbuf();
    EXPECT_EQ(text.str(), wanted) << name << ": write it again, see the head of this test";
}

TEST(CommandPages, AreThoseOfTheProgram) {
    const auto all = commands();
    expect_file("docs/man/walrelay.1", man_page(all));
    expect_file("completions/walrelay.bash", bash_completion(all));
    expect_file("completions/_walrelay", zsh_completion(all));
    expect_file("completions/walrelay.fish", fish_completion(all));
}

TEST(CommandPages, KnowCommandsFlagsAndChoices) {
    const auto all = commands();
    std::set<std::string> names;
    for (const auto& command : all) {
        names.insert(command.name);
    }
    EXPECT_TRUE(names.contains("run"));
    EXPECT_TRUE(names.contains("dead-letter retry"));
    const auto run =
        std::find_if(all.begin(), all.end(), [](const auto& each) { return each.name == "run"; });
    ASSERT_NE(run, all.end());
    const auto plugin = std::find_if(run->flags.begin(), run->flags.end(),
                                     [](const auto& each) { return each.name == "plugin"; });
    ASSERT_NE(plugin, run->flags.end());
    EXPECT_EQ(plugin->choices, (std::vector<std::string>{"auto", "wal2json", "pgoutput"}));
}

/// What a shell says when it has read the completion and is asked.
std::string said(const std::string& shell, const std::vector<std::string>& words) {
    const test::temporary_folder folder("shell");
    test::child_process run({.program = shell,
                             .arguments = words,
                             .environment = {{"HOME", folder.path().string()}, {"TERM", "dumb"}},
                             .folder = folder.path(),
                             .name = "shell"});
    EXPECT_EQ(run.wait_exit(std::chrono::seconds(60)), 0)
        << run.standard_output() << run.standard_error();
    return run.standard_output();
}

std::string bash_says(const std::string& typed) {
    return said("bash",
                {"--norc", "-c",
                 "source '" + path_of("completions/walrelay.bash") + "'; COMP_WORDS=(" + typed +
                     "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _walrelay; "
                     "printf '%s\\n' \"${COMPREPLY[@]}\""});
}

TEST(Completion, OfBashKnowsWhatFollows) {
    EXPECT_EQ(bash_says("walrelay ver"), "verify\nversion\n");
    EXPECT_EQ(bash_says("walrelay run --plug"), "--plugin\n");
    EXPECT_EQ(bash_says("walrelay run --plugin w"), "wal2json\n");
    EXPECT_EQ(bash_says("walrelay dead-letter re"), "retry\n");
    EXPECT_EQ(bash_says("walrelay dead-letter retry --al"), "--all\n");
    EXPECT_THAT(bash_says("walrelay check --config /etc/passw"), HasSubstr("/etc/passwd\n"));
    EXPECT_EQ(bash_says("walrelay check --slot x"), "\n");
}

TEST(Completion, OfFishKnowsWhatFollows) {
    const auto fish_says = [](const std::string& typed) {
        return said("fish", {"--no-config", "-c",
                             "source '" + path_of("completions/walrelay.fish") +
                                 "'; complete -C '" + typed + "'"});
    };
    EXPECT_THAT(fish_says("walrelay ver"), HasSubstr("verify\t"));
    EXPECT_THAT(fish_says("walrelay run --plug"), HasSubstr("--plugin\t"));
    EXPECT_THAT(fish_says("walrelay run --plugin w"), HasSubstr("wal2json"));
    EXPECT_THAT(fish_says("walrelay dead-letter re"), HasSubstr("retry\t"));
}

TEST(Completion, OfZshIsRead) {
    EXPECT_EQ(said("zsh", {"-fc", "autoload -Uz compinit; compinit -u -D; fpath=('" +
                                      path_of("completions") +
                                      "' $fpath); autoload -Uz +X _walrelay; compdef _walrelay "
                                      "walrelay; print ${_comps[walrelay]}"}),
              "_walrelay\n");
}

}  // namespace
}  // namespace walrelay::app
