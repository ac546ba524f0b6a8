#include "app/command_line.hpp"

#include "app/exit_code.hpp"
#include "config/keys.hpp"

#include <CLI/CLI.hpp>

#include <iostream>

namespace walrelay::app {
namespace {

void add_settings(CLI::App& command, command_line& line) {
    command.add_option("--config", line.config_file,
                       "configuration file (default ./walrelay.toml, then "
                       "/etc/walrelay/walrelay.toml)");
    for (const auto& key : config::keys()) {
        if (key.about.flag.empty()) {
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
    auto* const init =
        program.add_subcommand("init", "create what is missing: publication, slot, stream");
    auto* const check = program.add_subcommand(
        "check", "look at both sides before starting; every finding with its remedy");
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
    line.wanted = run->parsed()     ? command::run
                  : init->parsed()  ? command::init
                  : check->parsed() ? command::check
                                    : command::version;
    static_cast<void>(version);
    return {std::move(line), exit_done};
}

}  // namespace walrelay::app
