#include "app/usage_error.hpp"

#include "config/nearest.hpp"
#include "core/one_line.hpp"

#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

namespace walrelay::app {
namespace {

/// "walrelay dead-letter drop": the command that was understood last.
struct understood {
    const CLI::App* command;
    std::string name;
};

understood last_understood(const CLI::App& program) {
    understood last{&program, program.get_name()};
    while (!last.command->get_subcommands().empty()) {
        const auto* const next = last.command->get_subcommands().front();
        last = {next, last.name + ' ' + next->get_name()};
    }
    return last;
}

std::vector<std::string> commands_of(const CLI::App& command) {
    std::vector<std::string> names;
    for (const auto* const each : command.get_subcommands({})) {
        names.push_back(each->get_name());
    }
    return names;
}

std::vector<std::string> flags_of(const CLI::App& command) {
    std::vector<std::string> names;
    for (const auto* const each : command.get_options([](const CLI::Option*) { return true; })) {
        for (const auto& name : each->get_lnames()) {
            names.push_back("--" + name);
        }
    }
    return names;
}

std::string fix(const understood& of, const std::optional<std::string>& meant,
                std::string_view what) {
    const auto help = of.name + " -h lists the " + std::string(what);
    return meant ? "; fix: did you mean " + *meant + "? " + help : "; fix: " + help;
}

std::string unknown_argument(const understood& of, const std::vector<std::string>& unknown) {
    const auto flag = std::find_if(unknown.begin(), unknown.end(),
                                   [](const auto& each) { return each.starts_with('-'); });
    if (flag != unknown.end()) {
        const auto name = flag->substr(0, flag->find('='));
        return of.name + " has no flag " + one_line(name) +
               fix(of, config::nearest(name, flags_of(*of.command)), "flags");
    }
    const auto& first = unknown.front();
    const auto commands = commands_of(*of.command);
    if (commands.empty()) {
        return of.name + " takes no argument " + one_line(first) + fix(of, std::nullopt, "flags");
    }
    return of.name + " has no command " + one_line(first) +
           fix(of, config::nearest(first, commands), "commands");
}

/// The library says "Exactly 1 option from [id,--all] is required".
std::string what_is_required(const std::string& said) {
    const auto from = said.find('[');
    const auto to = said.find(']');
    if (from == std::string::npos || to == std::string::npos || to < from) {
        return " lacks an argument";
    }
    auto names = said.substr(from + 1, to - from - 1);
    std::replace(names.begin(), names.end(), ',', '|');
    return " takes exactly one of " + names;
}

template <class Error>
bool is(const CLI::ParseError& problem) {
    return dynamic_cast<const Error*>(&problem) != nullptr;
}

}  // namespace

std::string usage_error(const CLI::App& program, const CLI::ParseError& problem) {
    const auto last = last_understood(program);
    if (const auto unknown = program.remaining(true); !unknown.empty()) {
        return unknown_argument(last, unknown);
    }
    const auto what = one_line(problem.what());
    if (is<CLI::RequiredError>(problem) && !commands_of(*last.command).empty()) {
        return "no command is given" + fix(last, std::nullopt, "commands");
    }
    if (is<CLI::RequiredError>(problem)) {
        return last.name + what_is_required(what) + fix(last, std::nullopt, "arguments");
    }
    if (is<CLI::RequiresError>(problem)) {
        return what + "; fix: give both";
    }
    if (is<CLI::ArgumentMismatch>(problem)) {
        return what.substr(0, what.find(':')) + " needs a value" + fix(last, std::nullopt, "flags");
    }
    if (is<CLI::ConversionError>(problem)) {
        return "a flag has a value that it does not take" + what.substr(what.find(": ")) +
               fix(last, std::nullopt, "flags");
    }
    // What walrelay itself refuses names its fix.
    return what.find("; fix: ") == std::string::npos ? what + fix(last, std::nullopt, "flags")
                                                     : what;
}

}  // namespace walrelay::app
