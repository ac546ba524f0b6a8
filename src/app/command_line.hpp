// argv becomes a command and the values of its flags. Reads no file and no environment.
#pragma once

#include "config/load.hpp"
#include "tasks/dead_letter/dead_letter_request.hpp"
#include "tasks/find/find_options.hpp"
#include "tasks/replay/replay_request.hpp"
#include "tasks/verify/verify_options.hpp"

#include <chrono>
#include <optional>
#include <string>

// NOLINTNEXTLINE(readability-identifier-naming): the name that CLI11 has
namespace CLI {
class App;
}

namespace walrelay::app {

enum class command {
    run,
    init,
    check,
    verify,
    replay,
    bookmark,
    dead_letter,
    find,
    resume,
    drop,
    status,
    config,
    version
};

struct status_options {
    bool json = false;
    /// Once a second, until it is ended.
    bool watch = false;
    /// The exit code alone.
    bool quiet = false;
};

struct drop_options {
    /// Else it is only shown what would be dropped.
    bool execute = false;
    bool with_stream = false;
    bool with_schema = false;
    bool json = false;
};

struct resume_options {
    /// Publish what is missing, this once.
    bool heal = false;
    /// Go on without what is missing.
    bool give_up = false;
    bool json = false;
};

enum class bookmark_action { create, list, drop };

struct bookmark_request {
    bookmark_action action = bookmark_action::list;
    std::string name = {};
    std::string comment = {};
    /// Nothing is never.
    std::optional<std::chrono::milliseconds> expires_after = std::chrono::hours(24);
    bool insists = false;  // --force
    bool json = false;
};

struct command_line {
    command wanted = command::run;
    std::optional<std::string> config_file;
    config::flag_values flags;
    /// init --print: "all", "sql", "stream"; empty: it makes what is missing.
    std::string print_only = {};
    bool explains = false;            // --help in place of -h
    bool new_slot = false;            // init
    bool new_stream = false;          // init
    bool switch_plugin = false;       // init
    bool skip_startup_check = false;  // run
    bool accept_history = false;      // run
    bool json = false;                // check --json, version --json
    bool check_only = false;          // config --check
    bool list_tables = false;         // config --list
    bookmark_request bookmark = {};
    tasks::dead_letter_request dead_letter = {};
    tasks::find_options find = {};
    tasks::verify_options verify;
    tasks::replay_request replay = {};
    status_options status = {};
    drop_options drop = {};
    resume_options resume = {};
};

/// The command line, or the exit code where the program has answered by itself (--help, a flag
/// that does not exist).
struct parsed_command_line {
    std::optional<command_line> line;
    int exit_code = 0;
};

[[nodiscard]] parsed_command_line parse_command_line(int argc, const char* const* argv);

/// Gives `program` all commands and flags, which set `line` when they are parsed; also for those
/// who only want to know them. `line.explains` decides how much each says of itself.
void describe_program(CLI::App& program, command_line& line);

}  // namespace walrelay::app
