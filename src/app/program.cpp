#include "app/program.hpp"

#include "app/command_line.hpp"
#include "app/commands.hpp"
#include "app/exit_code.hpp"
#include "app/read_settings.hpp"
#include "log/log.hpp"
#include "postgres/session/apart.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <optional>
#include <string>

namespace walrelay::app {
namespace {

int run_command(const command_line& line, const config::settings& settings,
                const std::filesystem::path& root) {
    switch (line.wanted) {
        case command::init:
            return command_init(
                settings, {line.print_only, line.new_slot, line.new_stream, line.switch_plugin});
        case command::check:
            return command_check(settings, line.json);
        case command::bookmark:
            return command_bookmark(settings, line.bookmark);
        case command::dead_letter:
            return command_dead_letter(settings, line.dead_letter);
        case command::replay:
            return command_replay(settings, line.replay);
        case command::resume:
            return command_resume(settings, line.resume);
        case command::drop:
            return command_drop(settings, line.drop);
        case command::find:
            return command_find(settings, line.find);
        case command::status:
            return command_status(settings, line.status);
        case command::verify:
            return command_verify(settings, line.verify);
        case command::config:
            return line.list_tables ? command_config_list(settings)
                                    : command_config_of_table(settings, line.flags);
        default:
            return command_run(settings, {line.skip_startup_check, line.accept_history}, root);
    }
}

/// What runs here, for whoever opens the log. `file`: as below.
void tell_of_start(const config::settings& settings, const std::string& file,
                   const std::string& configuration) {
    std::string tables;
    for (const auto& each : settings.outbox) {
        tables += (tables.empty() ? "" : ",") + to_string(each.table);
    }
    const std::string plugin =
        settings.postgres.plugin ? to_string(*settings.postgres.plugin) : "auto";
    log<"start">("walrelay " WALRELAY_VERSION " starts; " + configuration + "; slot " +
                     settings.postgres.slot + ", stream " + settings.nats.stream +
                     (settings.outbox.size() == 1 ? ", table " : ", tables ") + tables +
                     ", plugin " + plugin,
                 with<"version">(std::string(WALRELAY_VERSION)),
                 with<"file">(file.empty() ? std::nullopt : std::optional(file)),
                 with<"slot">(settings.postgres.slot), with<"stream">(settings.nats.stream),
                 with<"tables">(tables), with<"plugin">(plugin));
}

/// `file`: its name, or empty. Commands of a person say it like that, a relay in its log.
void say_what_was_read(const command_line& line, const config::settings& settings,
                       const std::string& file) {
    const auto text =
        "configuration: " + (file.empty() ? "no file, only flags and environment variables" : file);
    if (line.wanted == command::run) {
        tell_of_start(settings, file, text);
    } else if (!line.status.quiet) {
        fmt::print(stderr, "{}\n", text);
    }
}

}  // namespace

int run_program(int argc, const char* const* argv, const std::filesystem::path& root) {
    const auto parsed = parse_command_line(argc, argv);
    if (!parsed.line) {
        return parsed.exit_code;
    }
    const auto& line = *parsed.line;
    if (line.wanted == command::version) {
        return command_version(line.json);
    }
    if (line.wanted == command::config &&
        (line.check_only || (!line.list_tables && !line.flags.contains("outbox.table")))) {
        return command_config(line);
    }
    std::string file_read;
    const auto settings = read_settings(line, &file_read);
    if (!settings) {
        return exit_usage;
    }
    set_up_log(settings->log);
    say_what_was_read(line, *settings, file_read);
    const auto exit_code = run_command(line, *settings, root);
    constexpr std::chrono::milliseconds longest{200};
    postgres::wait_for_calls_apart(longest);
    end_log();
    return exit_code;
}

}  // namespace walrelay::app
