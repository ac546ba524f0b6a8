#include "app/command_line.hpp"

#include "app/exit_code.hpp"

#include <CLI/CLI.hpp>

#include <array>
#include <iostream>

namespace walrelay::app {
namespace {

struct value_flag {
    const char* name;
    const char* key;
    const char* help;
};

constexpr std::array value_flags{
    value_flag{"--postgres", "postgres.conninfo", "libpq connection string or URI"},
    value_flag{"--nats", "nats.urls", "NATS URLs, separated by commas"},
    value_flag{"--table", "outbox.table", "outbox table, schema.name"},
    value_flag{"--slot", "postgres.slot", "replication slot"},
    value_flag{"--plugin", "postgres.plugin", "auto, wal2json or pgoutput"},
    value_flag{"--publication", "postgres.publication", "publication (pgoutput only)"},
    value_flag{"--stream", "nats.stream", "JetStream stream"},
    value_flag{"--subjects", "nats.subjects", "subjects of a stream that walrelay creates"},
    value_flag{"--subject", "outbox.subject", "subject template of the table"},
    value_flag{"--message-id", "outbox.message_id", "message id template of the table"},
    value_flag{"--body", "outbox.body", "event, payload, cloudevents or protobuf"},
    value_flag{"--log-level", "log.level", "trace, debug, info, warn or error"},
};

void add_settings(CLI::App& command, command_line& line) {
    command.add_option("--config", line.config_file,
                       "configuration file (default ./walrelay.toml, then "
                       "/etc/walrelay/walrelay.toml)");
    for (const auto& flag : value_flags) {
        command.add_option_function<std::string>(
            flag.name,
            [&line, key = flag.key](const std::string& value) { line.flags[key] = value; },
            flag.help);
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
        "init", "create what is missing: publication, slot, stream");
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
