#include "app/usage_error.hpp"

#include "core/nearest.hpp"
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
        for (const auto& name : each->get_snames()) {
            names.push_back("-" + name);
        }
    }
    return names;
}

bool has_flag(const CLI::App& command, const std::string& name) {
    const auto names = flags_of(command);
    return std::find(names.begin(), names.end(), name) != names.end();
}

/// The command that `flag` belongs behind, such as "dead-letter list": the one that was given, or
/// else the first that has it.
std::optional<std::string> place_of_flag(const CLI::App& program, const std::string& flag) {
    const auto given = program.get_subcommands();
    const auto all = program.get_subcommands({});
    const std::vector<const CLI::App*> commands =
        given.empty() ? std::vector<const CLI::App*>(all.begin(), all.end())
                      : std::vector<const CLI::App*>(given.begin(), given.end());
    for (const auto* const each : commands) {
        if (has_flag(*each, flag)) {
            return each->get_name();
        }
        if (const auto place = place_of_flag(*each, flag)) {
            return each->get_name() + ' ' + *place;
        }
    }
    return std::nullopt;
}

std::string fix(const understood& of, const std::optional<std::string>& meant,
                std::string_view what) {
    const auto help = of.name + " -h lists the " + std::string(what);
    return meant ? "; fix: did you mean " + *meant + "? " + help : "; fix: " + help;
}

std::string unknown_argument(const understood& of, const std::vector<std::string>& unknown) {
    const auto commands = commands_of(*of.command);
    // Flags after a command that is mistyped are not what is wrong.
    const bool lacks_command = !commands.empty() && !unknown.front().starts_with('-');
    const auto flag = lacks_command
                          ? unknown.end()
                          : std::find_if(unknown.begin(), unknown.end(),
                                         [](const auto& each) { return each.starts_with('-'); });
    if (flag != unknown.end()) {
        const auto name = flag->substr(0, flag->find('='));
        if (const auto place = place_of_flag(*of.command, name)) {
            return "the flag " + name +
                   " stands before the command; fix: write it after it: " + of.name + ' ' + *place +
                   ' ' + name + " ...";
        }
        return of.name + " has no flag " + one_line(name) +
               fix(of, nearest(name, flags_of(*of.command)), "flags");
    }
    const auto& first = unknown.front();
    if (commands.empty()) {
        return of.name + " takes no argument " + one_line(first) + fix(of, std::nullopt, "flags");
    }
    return of.name + " has no command " + one_line(first) +
           fix(of, nearest(first, commands), "commands");
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

/// "--table: ...": too few values, or too many.
std::string wrong_count(const understood& of, const std::string& said) {
    const auto name = said.substr(0, said.find(':'));
    const auto* const option = of.command->get_option_no_throw(name);
    if (option == nullptr || option->count() < 2) {
        return name + " needs a value" + fix(of, std::nullopt, "flags");
    }
    return name + " is given " + std::to_string(option->count()) + " times; fix: " +
           (name == "--table"
                ? "give it once; several tables are written into a file, one [[outbox]] with its "
                  "table for each: walrelay config > walrelay.toml"
                : "give it once");
}

template <class Error>
bool is(const CLI::ParseError& problem) {
    return dynamic_cast<const Error*>(&problem) != nullptr;
}

}  // namespace

std::string usage_error(const CLI::App& program, const CLI::ParseError& problem) {
    const auto last = last_understood(program);
    if (const auto unknown = program.remaining(false); !unknown.empty()) {
        return unknown_argument({&program, program.get_name()}, unknown);
    }
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
        return wrong_count(last, what);
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
