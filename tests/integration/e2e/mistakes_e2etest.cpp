// What a person types wrong, and the first line of the answer.
#include "integration/e2e/relay_bench.hpp"

#include <gmock/gmock.h>

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string_view>

namespace walrelay::test {
namespace {

/// Parts are separated by blanks; one within double quotes can hold blanks.
std::vector<std::string> arguments_in(std::string_view typed) {
    std::vector<std::string> arguments;
    bool in_argument = false;
    bool quoted = false;
    for (const char each : typed) {
        if (each == ' ' && !quoted) {
            in_argument = false;
            continue;
        }
        if (!in_argument) {
            arguments.emplace_back();
            in_argument = true;
        }
        if (each == '"') {
            quoted = !quoted;
        } else {
            arguments.back() += each;
        }
    }
    return arguments;
}

struct mistake {
    std::string typed;
    std::string answer;
};

/// mistakes.txt, where a line "$ walrelay ..." stands before its answer.
std::vector<mistake> mistakes() {
    constexpr std::string_view prompt = "$ walrelay";
    std::ifstream file(WALRELAY_MISTAKES);
    std::vector<mistake> all;
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with(prompt)) {
            all.push_back({line.substr(prompt.size()), ""});
        } else if (!line.empty() && !line.starts_with('#')) {
            all.back().answer = line;
        }
    }
    return all;
}

class Mistakes : public testing::Test {
protected:
    finished_run type(std::string_view words) {
        return run_to_end({.program = WALRELAY_BINARY,
                           .arguments = arguments_in(words),
                           .folder = folder_.path(),
                           .name = "command" + std::to_string(++runs_)},
                          patience);
    }

    std::string write_file(const std::string& name, const std::string& text) {
        const auto file = folder_.path() / name;
        std::ofstream(file) << text;
        return file.string();
    }

    static std::string first_line_of(const std::string& text) {
        return text.substr(0, text.find('\n'));
    }

private:
    temporary_folder folder_{"mistakes"};
    int runs_ = 0;
};

TEST_F(Mistakes, AreToldWithWhatWasMeant) {
    constexpr std::size_t at_least = 60;
    ASSERT_GE(mistakes().size(), at_least);
    for (const auto& each : mistakes()) {
        const auto answer = type(each.typed);
        EXPECT_EQ(answer.exit_code, 2) << each.typed;
        EXPECT_EQ(answer.output, "") << each.typed;
        EXPECT_EQ(first_line_of(answer.errors), each.answer) << each.typed;
    }
}

TEST_F(Mistakes, OfAFileAreToldWithItsLine) {
    const auto file = write_file("wrong.toml", "[postgres]\nconinfo = \"dbname=app\"\n");
    EXPECT_EQ(first_line_of(type("run --config " + file).errors),
              "walrelay: " + file +
                  ":2: postgres.coninfo: is not a known key; fix: write "
                  "conninfo, or remove it");
}

TEST_F(Mistakes, OfTomlAreToldWithTheQuotesThatLack) {
    const auto told = [this](const std::string& line) {
        const auto file = write_file("quotes.toml", "[postgres]\n" + line + "\n");
        return first_line_of(type("run --config " + file).errors);
    };
    EXPECT_THAT(told("slot = walrelay"),
                testing::AllOf(testing::HasSubstr("quotes.toml:2: is not TOML"),
                               testing::EndsWith("; fix: text stands in double quotes: slot = "
                                                 "\"...\"; nothing of the file could be used")));
    EXPECT_THAT(told("conninfo = host=127.0.0.1 password=s3cret"),
                testing::AllOf(testing::HasSubstr("text stands in double quotes: conninfo = "),
                               testing::Not(testing::HasSubstr("s3cret"))));
    EXPECT_THAT(told("slot = \"walrelay"), testing::HasSubstr("; fix: correct the line;"));
    EXPECT_THAT(told("urls = [nats://127.0.0.1:4222]"),
                testing::HasSubstr("text stands in double quotes: urls = [\"...\"]"));
}

TEST_F(Mistakes, PasswordThatEverybodyCanReadIsNotUsed) {
    using std::filesystem::perms;
    const auto file = write_file("open.toml",
                                 "[postgres]\nconninfo = \"host=127.0.0.1 dbname=app "
                                 "password=s3cret\"\n[[outbox]]\ntable = \"outbox_events\"\n");
    std::filesystem::permissions(file, perms(0644));
    const auto refused = type("config --check --config " + file);
    EXPECT_EQ(refused.exit_code, 2);
    EXPECT_THAT(refused.errors, testing::HasSubstr("every user of this machine can read that file; "
                                                   "fix: chmod o= " +
                                                   file));
    EXPECT_THAT(refused.errors, testing::Not(testing::HasSubstr("s3cret")));
    std::filesystem::permissions(file, perms(0640));
    EXPECT_EQ(type("config --check --config " + file).exit_code, 0);
}

TEST_F(Mistakes, HeaderForACollectorThatEverybodyCanReadIsNotUsed) {
    using std::filesystem::perms;
    const auto file = write_file("traced.toml",
                                 "[postgres]\nconninfo = \"dbname=app\"\n[[outbox]]\n"
                                 "table = \"outbox_events\"\n[traces]\n"
                                 "endpoint = \"http://127.0.0.1:4318\"\n"
                                 "headers = { Authorization = \"Bearer s3cret\" }\n");
    std::filesystem::permissions(file, perms(0644));
    const auto refused = type("config --check --config " + file);
    EXPECT_EQ(refused.exit_code, 2);
    EXPECT_THAT(refused.errors, testing::HasSubstr("traces.headers"));
    EXPECT_THAT(refused.errors, testing::HasSubstr("WALRELAY_TRACES_HEADERS"));
    EXPECT_THAT(refused.errors, testing::Not(testing::HasSubstr("s3cret")));
    std::filesystem::permissions(file, perms(0640));
    EXPECT_EQ(type("config --check --config " + file).exit_code, 0);
}

TEST_F(Mistakes, AreNoneWhereHelpIsAskedFor) {
    EXPECT_EQ(type("help").output, type("--help").output);
    EXPECT_EQ(type("help dead-letter drop").output, type("dead-letter drop --help").output);
    EXPECT_EQ(type("help run --slot x").output, type("run --help").output);
    EXPECT_EQ(type("help verify").exit_code, 0);
}

TEST_F(Mistakes, WhoseConfigurationItIsCounts) {
    const auto file = write_file("walrelay.toml", "[postgres]\nslot = \"theirs\"\n");
    std::filesystem::permissions(file, std::filesystem::perms::others_write,
                                 std::filesystem::perm_options::add);
    const auto ignored = type("config --check");
    EXPECT_EQ(first_line_of(ignored.errors),
              "walrelay: ./walrelay.toml is not read, because another user may write it; fix: "
              "chmod go-w, chown, or name it with --config");
    EXPECT_EQ(type("config --check --config " + file + " --postgres dbname=a --table b").exit_code,
              0);
}

/// Debian gives each user a group of the same name; with the umask 002 that group may write files.
TEST_F(Mistakes, AGroupThatIsTheUsersOwnIsNobodyElse) {
    const auto file = write_file("walrelay.toml",
                                 "[postgres]\nconninfo = \"dbname=a\"\n"
                                 "[[outbox]]\ntable = \"b\"\n");
    std::filesystem::permissions(file, std::filesystem::perms::group_write,
                                 std::filesystem::perm_options::add);
    EXPECT_EQ(
        type("config --check").output,
        "read ./walrelay.toml\nok       the configuration can be used; no server was asked\n");
    // Any other group may have members, also where it is the user's first.
    const auto other = find_account("daemon").group;
    ASSERT_EQ(chown(file.c_str(), geteuid(), other), 0) << "needs root";
    EXPECT_EQ(type("config --check").exit_code, 2);
}

}  // namespace
}  // namespace walrelay::test
