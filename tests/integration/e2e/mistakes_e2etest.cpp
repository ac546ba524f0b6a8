// What a person types wrong, and the first line of the answer.
#include "integration/e2e/relay_bench.hpp"

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

}  // namespace
}  // namespace walrelay::test
