#include "app/command_line.hpp"

#include "app/dead_letter_flags.hpp"
#include "app/exit_code.hpp"
#include "config/keys.hpp"

#include <CLI/CLI.hpp>

#include <iostream>
#include <string_view>

namespace walrelay::app {
namespace {

/// The flags of the configuration, but for those of one section.
void add_settings(CLI::App& command, command_line& line, std::string_view without = "") {
    command.add_option("--config", line.config_file,
                       "configuration file (default ./walrelay.toml, then "
                       "/etc/walrelay/walrelay.toml)");
    for (const auto& key : config::keys()) {
        if (key.about.flag.empty() || key.about.section == without) {
            continue;
        }
        command.add_option_function<std::string>(
            std::string(key.about.flag),
            [&line, name = key.full_name()](const std::string& value) { line.flags[name] = value; },
            std::string(key.about.documentation));
    }
}

}  // namespace

parsed_command_line parse_command_line(int argc, const char* const* argv) {
    CLI::App program("Relays rows of PostgreSQL outbox tables to NATS JetStream.", "walrelay");
    program.require_subcommand(1);
    program.footer("Any key of the configuration can be given as WALRELAY_<SECTION>_<KEY>.");
    command_line line;

    auto* const run = program.add_subcommand("run", "tail the slot and publish until stopped");
    auto* const init = program.add_subcommand(
        "init", "create what is missing: publication, slot, stream, schema walrelay");
    auto* const check = program.add_subcommand(
        "check", "look at both sides before starting; every finding with its remedy");
    auto* const dead_letter = add_dead_letter(program, line.dead_letter, [&line](CLI::App& action) {
        add_settings(action, line, "outbox");
    });
    auto* const version = program.add_subcommand("version", "print the version");
    for (auto* const each : {run, init, check}) {
        add_settings(*each, line);
    }
    init->add_flag("--print", line.print_only, "only show the SQL and the stream configuration");
    check->add_flag("--json", line.json, "print the findings as JSON");

    try {
        program.parse(argc, argv);
    } catch (const CLI::ParseError& problem) {
        const bool answered = program.exit(problem, std::cout, std::cerr) == 0;
        return {std::nullopt, answered ? exit_done : exit_usage};
    }
    line.wanted = run->parsed()           ? command::run
                  : init->parsed()        ? command::init
                  : check->parsed()       ? command::check
                  : dead_letter->parsed() ? command::dead_letter
                                          : command::version;
    static_cast<void>(version);
    return {std::move(line), exit_done};
}

}  // namespace walrelay::app
