// The commands of the program; each has a file of its own, and gives the exit code.
#pragma once

#include "app/command_line.hpp"
#include "config/settings.hpp"
#include "tasks/find/find_options.hpp"
#include "tasks/verify/verify_options.hpp"

#include <filesystem>

namespace walrelay::app {

/// What an operator decides for the first start of a relay alone.
struct run_once {
    bool skip_startup_check = false;
    bool accept_history = false;
};

/// Tails the slot and publishes until SIGTERM or SIGINT, or until an operator must decide. `root`
/// as of memory_limit.
[[nodiscard]] int command_run(const config::settings& configured, run_once first_start,
                              const std::filesystem::path& root);
struct init_options {
    /// Shows what would be made, and makes nothing: "all", "sql" or "stream"; empty: makes it.
    std::string print_only = {};
    /// Makes a slot although the stream shows an earlier run.
    bool new_slot = false;
    /// Makes a stream, or begins in the one that is there, although another one was filled before.
    bool new_stream = false;
    /// Lets the slot go on with another plugin first.
    bool switch_plugin = false;
};

/// Creates publication, slot and stream where they are missing.
[[nodiscard]] int command_init(const config::settings& settings, init_options options);
/// Looks at both sides and prints every finding.
[[nodiscard]] int command_check(const config::settings& settings, bool json);
/// Makes, lists or drops the positions that are kept for a replay.
[[nodiscard]] int command_bookmark(const config::settings& settings,
                                   const bookmark_request& request);
/// Lists, shows, retries or drops dead letters.
[[nodiscard]] int command_dead_letter(const config::settings& settings,
                                      const tasks::dead_letter_request& request);
/// Says where an event is: in the tables, in the stream, among the dead letters.
[[nodiscard]] int command_find(const config::settings& settings,
                               const tasks::find_options& options);
/// Publishes rows of the past again, or shows what that would be.
[[nodiscard]] int command_replay(const config::settings& settings,
                                 const tasks::replay_request& request);
/// Shows what walrelay has made for the slot, and with `execute` drops it.
[[nodiscard]] int command_drop(const config::settings& settings, drop_options options);
/// Takes back a halt, and decides what becomes of the rows that are missing.
[[nodiscard]] int command_resume(const config::settings& settings, resume_options options);
/// Compares the outbox tables with the stream and prints what differs.
[[nodiscard]] int command_verify(const config::settings& settings,
                                 const tasks::verify_options& options);
/// Checks the configuration without asking a server, or prints a commented one.
[[nodiscard]] int command_config(const command_line& line);
/// Lists the tables of the database that look like an outbox.
[[nodiscard]] int command_config_list(const config::settings& settings);
/// Prints one that is filled in for the table that the flags name.
[[nodiscard]] int command_config_of_table(const config::settings& settings,
                                          const config::flag_values& flags);
/// Shows what the relay of http.listen says of itself; where none answers, what the servers say.
[[nodiscard]] int command_status(const config::settings& settings, status_options options);
[[nodiscard]] int command_version(bool json);

}  // namespace walrelay::app
