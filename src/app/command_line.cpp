#include "app/command_line.hpp"

#include "app/bookmark_flags.hpp"
#include "app/dead_letter_flags.hpp"
#include "app/exit_code.hpp"
#include "app/find_flags.hpp"
#include "app/help_text.hpp"
#include "app/replay_flags.hpp"
#include "app/usage_error.hpp"
#include "config/keys.hpp"
#include "config/read.hpp"
#include "core/assert.hpp"
#include "core/one_line.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <chrono>
#include <iostream>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

namespace walrelay::app {
namespace {

constexpr std::size_t longest_shown = 100;

/// How much of each flag the help says.
enum class detail { brief, whole };

/// The documentation of a key without its Markdown; `brief`: its first sentence.
std::string about(const config::key& key, detail how_much) {
    std::string text(key.documentation);
    std::erase(text, '`');
    if (how_much == detail::brief) {
        return text.substr(0, std::min(text.find(". "), text.size() - 1));
    }
    const auto usual = key.default_value();
    return usual.empty() || usual == "\"\"" || usual == "[]" ? text : text + " Default: " + usual;
}

/// What stands for the value of a key in the help: its choices, or its kind.
std::string value_of(const config::key& key) {
    std::string made;
    for (const auto& text : key.takes.accepted) {
        made += (made.empty() ? "" : "|") + text;
    }
    return made.empty() ? "TEXT" : made;
}

/// The flags of the configuration. A flag of that name that the command has means what it says of
/// it.
void add_settings(CLI::App& command, command_line& line) {
    command
        .add_option("-c,--config", line.config_file,
                    "configuration file (default: ./walrelay.toml, then "
                    "/etc/walrelay/walrelay.toml)")
        ->type_name("FILE");
    for (const auto& key : config::keys()) {
        if (key.flag.empty() || command.get_option_no_throw(std::string(key.flag)) != nullptr) {
            continue;
        }
        command
            .add_option_function<std::string>(
                std::string(key.flag),
                [&line, name = key.full_name()](const std::string& value) {
                    line.flags[name] = value;
                },
                about(key, line.explains ? detail::whole : detail::brief))
            ->type_name(value_of(key))
            ->group("Configuration, " + config::heading_of(key.section));
    }
}

void set_wait(tasks::verify_options& options, const std::string& text) {
    const auto wait =
        config::read_duration({"--wait", config::plain_text{text}}, {std::chrono::milliseconds(0)});
    if (!wait) {
        throw CLI::ValidationError("--wait", wait.error().what + "; fix: " + wait.error().remedy);
    }
    options.wait = *wait;
}

void add_verify(CLI::App& command, tasks::verify_options& options) {
    command.add_flag("--json", options.json, "print the findings as JSON");
    command.add_flag("--progress", options.progress,
                     "report progress also if standard error is not a terminal");
    command
        .add_option_function<std::string>(
            "--limit",
            [&options](const std::string& text) {
                options.named_limit = static_cast<std::size_t>(read_number("--limit", text));
            },
            "how many findings of each kind are named (default: 20)")
        ->type_name("NUMBER");
    command
        .add_option_function<std::string>(
            "--wait", [&options](const std::string& text) { set_wait(options, text); },
            "how long to wait for rows that a running relay may still bring (default: 30s)")
        ->type_name("DURATION");
    command.add_option("--where", options.where, "SQL condition: compare only these rows")
        ->type_name("SQL");
    command.add_flag("--since-slot", options.since_slot,
                     "leave out what was in the tables and in the stream before the slot was made");
}

void add_status(CLI::App& command, status_options& options) {
    command.add_flag("--json", options.json, "print what the relay answers at /status");
    command.add_flag("--watch", options.watch, "show it again every second, until Ctrl-C");
    command.add_flag("--quiet", options.quiet, "print nothing, only set the exit code");
}

void add_drop(CLI::App& command, drop_options& options) {
    command.add_flag("--execute", options.execute, "do it; without, it is only shown");
    command.add_flag("--with-stream", options.with_stream,
                     "delete the stream as well, with its messages");
    command.add_flag(
        "--with-schema", options.with_schema,
        "drop the schema walrelay as well, with dead letters and the record of replays");
    command.add_flag("--json", options.json, "print it as JSON");
}

void add_resume(CLI::App& command, resume_options& options) {
    auto* const heal = command.add_flag(
        "--heal", options.heal,
        "have the next relay publish from the tables what the stream lacks, this once, whatever "
        "delivery.on_slot_loss says");
    command
        .add_flag("--give-up", options.give_up,
                  "go on without the rows that are missing; they are listed and kept on record "
                  "(walrelay dead-letter list --given-up)")
        ->excludes(heal);
    command.add_flag("--json", options.json, "print what was halted and decided as JSON");
}

void add_flags(CLI::App& run, CLI::App& init, CLI::App& check, command_line& line) {
    run.add_flag("--skip-startup-check", line.skip_startup_check,
                 "go on past a halt, and without the rows that the startup check misses; for one "
                 "start, do not leave it in a unit file");
    run.add_flag("--accept-history", line.accept_history,
                 "go on with this database although the stream knows another history of it "
                 "(restored, failed over on purpose), for this one start");
    init.add_flag("--print{all}", line.print_only,
                  "make nothing, show it: the SQL, with the stream's configuration as a comment; "
                  "--print=sql or --print=stream: one of them")
        ->check(CLI::Validator(
            [](const std::string& what) {
                const bool is_known = what == "all" || what == "sql" || what == "stream";
                return is_known ? ""
                                : one_line(what, longest_shown) +
                                      " cannot be printed; fix: use one of sql, stream";
            },
            ""));
    init.add_flag("--new-slot", line.new_slot,
                  "make the slot although the stream shows an earlier run: rows committed since "
                  "the stream's last message are then only in the tables");
    init.add_flag("--new-stream", line.new_stream,
                  "make the stream, or begin in the one that is there, although another one was "
                  "filled before: what that one had is then in the tables alone (walrelay resume "
                  "--heal publishes it)");
    init.add_flag("--switch-plugin", line.switch_plugin,
                  "let the slot go on with the other output plugin (postgres.plugin, or what it "
                  "does not have), from where it stands; no relay may run");
    check.add_flag("--json", line.json, "print the findings as JSON");
}

using known_commands = std::vector<std::pair<const CLI::App*, command>>;

void add_config(CLI::App& program, command_line& line, known_commands& known) {
    auto* const config = program.add_subcommand(
        "config", "print a commented walrelay.toml, with --table filled in for that table");
    auto* const check_only =
        config->add_flag("--check", line.check_only,
                         "check the configuration instead of printing one; asks no server");
    config
        ->add_flag("--list", line.list_tables,
                   "list the tables of the database that look like an outbox")
        ->excludes(check_only);
    add_settings(*config, line);
    config->get_option("--config")->needs(check_only);
    known.emplace_back(config, command::config);
}

/// The commands that take the whole configuration as flags, and what else each of them takes.
void add_main_commands(CLI::App& program, command_line& line, known_commands& known) {
    auto* const run = program.add_subcommand("run", "tail the slot and publish until stopped");
    auto* const init = program.add_subcommand(
        "init", "create what is missing: publication, slot, stream, schema walrelay");
    auto* const check = program.add_subcommand(
        "check", "look at both servers before starting; every finding with its fix");
    auto* const verify = program.add_subcommand(
        "verify", "compare the outbox tables with the stream: missing, twice, out of order");
    for (auto* const each : {run, init, check, verify}) {
        add_settings(*each, line);
    }
    add_flags(*run, *init, *check, line);
    add_verify(*verify, line.verify);
    known.insert(known.end(), {{run, command::run},
                               {init, command::init},
                               {check, command::check},
                               {verify, command::verify}});
}

/// In the order in which the help shows them.
known_commands add_commands(CLI::App& program, command_line& line) {
    known_commands known;
    add_main_commands(program, line, known);
    auto* const status = program.add_subcommand(
        "status", "show the state of the relay; exit code 0 if it is ready, 1 if not");
    add_settings(*status, line);
    add_status(*status, line.status);
    known.emplace_back(status, command::status);
    known.emplace_back(
        add_replay(program, line.replay, [&line](CLI::App& action) { add_settings(action, line); }),
        command::replay);
    known.emplace_back(add_bookmark(program, line.bookmark,
                                    [&line](CLI::App& action) { add_settings(action, line); }),
                       command::bookmark);
    known.emplace_back(add_dead_letter(program, line.dead_letter,
                                       [&line](CLI::App& action) { add_settings(action, line); }),
                       command::dead_letter);
    known.emplace_back(
        add_find(program, line.find, [&line](CLI::App& action) { add_settings(action, line); }),
        command::find);
    auto* const resume = program.add_subcommand(
        "resume",
        "take back a halt, after its cause is fixed; --heal, --give-up: what becomes of rows that "
        "are missing");
    add_settings(*resume, line);
    add_resume(*resume, line.resume);
    known.emplace_back(resume, command::resume);
    auto* const drop = program.add_subcommand(
        "drop", "undo init: show what walrelay made for the slot, and with --execute drop it");
    add_settings(*drop, line);
    add_drop(*drop, line.drop);
    known.emplace_back(drop, command::drop);
    add_config(program, line, known);
    auto* const version = program.add_subcommand("version", "print the version");
    version->add_flag("--json", line.json,
                      "print it as JSON, with the commit it was built from and what it can do");
    known.emplace_back(version, command::version);
    // Never parsed, see words_of: it is here to be listed.
    program.add_subcommand("help", "print this help, or that of a command: walrelay help run");
    return known;
}

/// The one that was given; there must be one.
command command_of(const known_commands& known) {
    const auto given = std::find_if(known.begin(), known.end(),
                                    [](const auto& each) { return each.first->parsed(); });
    WALRELAY_ASSERT(given != known.end());
    return given->second;
}

known_commands set_up(CLI::App& program, command_line& line) {
    program.name("walrelay");
    program.description("Relays rows of PostgreSQL outbox tables to NATS JetStream.");
    program.require_subcommand(1);
    program.formatter(std::make_shared<help_text>(terminal_width()));
    program.set_version_flag("-V,--version", "walrelay " WALRELAY_VERSION, "print the version");
    program.set_help_flag("-h,--help", "print this help; -h is short, --help explains each flag");
    program.footer("Any key of the configuration can be given as WALRELAY_<SECTION>_<KEY>.");
    return add_commands(program, line);
}

const CLI::App* command_named(const CLI::App& in, const std::string& name) {
    const auto all = in.get_subcommands({});
    const auto found = std::find_if(all.begin(), all.end(),
                                    [&](const auto* each) { return each->get_name() == name; });
    return found == all.end() ? nullptr : *found;
}

/// `help dead-letter drop` is `dead-letter drop --help`, whatever stands after it; `help fly` is
/// answered like `fly`.
std::vector<std::string> words_of(const CLI::App& program, int argc, const char* const* argv) {
    const std::vector<std::string> given(argv + std::min(argc, 1), argv + argc);
    if (given.empty() || given.front() != "help") {
        return given;
    }
    std::vector<std::string> words;
    const auto* at = &program;
    for (auto each = given.begin() + 1; each != given.end(); ++each) {
        at = command_named(*at, *each);
        if (at == nullptr) {
            break;
        }
        words.push_back(*each);
    }
    if (words.empty() && given.size() > 1) {
        return {given[1]};
    }
    words.emplace_back("--help");
    return words;
}

}  // namespace

void describe_program(CLI::App& program, command_line& line) {
    set_up(program, line);
}

parsed_command_line parse_command_line(int argc, const char* const* argv) {
    CLI::App program;
    command_line line;
    line.explains = std::any_of(argv, argv + argc, [](const std::string_view each) {
        return each == "--help" || each == "help";
    });
    const auto known = set_up(program, line);
    auto words = words_of(program, argc, argv);
    // The library takes them from the back.
    std::reverse(words.begin(), words.end());
    try {
        program.parse(std::move(words));
    } catch (const CLI::ParseError& problem) {
        if (problem.get_exit_code() == 0) {
            program.exit(problem, std::cout, std::cerr);
            return {std::nullopt, exit_done};
        }
        std::cerr << "walrelay: " << usage_error(program, problem) << '\n';
        return {std::nullopt, exit_usage};
    }
    line.wanted = command_of(known);
    return {std::move(line), exit_done};
}

}  // namespace walrelay::app
