// See options.hpp.
#include "chaos/options.hpp"

#include "chaos/program_version.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <random>
#include <stdexcept>

namespace walrelay::chaos {
namespace {

void describe(CLI::App& app, chaos_options& chosen) {
    app.add_option("--walrelay", chosen.relay_program, "the program")->required();
    app.add_option("--fault", chosen.faults, "only these, by name (see --list)")->delimiter(',');
    app.add_option("--times", chosen.times, "how often each fault happens, for each plugin");
    app.add_option("--rows", chosen.rows, "rows that are committed meanwhile, at least");
    app.add_option("--writers", chosen.writers, "connections that write");
    app.add_option("--rate", chosen.rows_per_second, "rows in a second, of all writers together")
        ->check(CLI::PositiveNumber);
    app.add_option("--plugin", chosen.plugin, "pgoutput, wal2json or both")
        ->check(CLI::IsMember({"pgoutput", "wal2json", "both"}));
    app.add_option("--seed", chosen.seed, "repeats what chance decided in an earlier run");
    app.add_option("--nats-server", chosen.nats_server, "the broker's program");
    app.add_option("--other-nats-servers", chosen.other_nats_servers,
                   "more of these: clusters and what depends on the version run with each")
        ->delimiter(',');
    app.add_option("--other-postgres", chosen.other_postgres,
                   "folders of the programs of more PostgreSQL versions: what depends on the "
                   "version runs with each")
        ->delimiter(',');
    app.add_option("--markdown", chosen.markdown, "where the table goes as well");
    app.add_option("--logs", chosen.logs, "where the logs of failed runs are kept");
    app.add_flag("--list", chosen.list, "show all faults");
    auto* short_form = app.add_flag("--short", chosen.short_form, "what ./dev test runs");
    auto* long_form = app.add_flag("--long", chosen.long_form, "what docs/guarantees.md shows")
                          ->excludes(short_form);
    app.add_flag("--rest", chosen.rest_form, "all that --long leaves out, a few times each")
        ->excludes(short_form)
        ->excludes(long_form);
    app.add_option("--results", chosen.results,
                   "a file that the results are added to; what has passed in it is not run again, "
                   "and the table shows all of it");
}

struct short_entry {
    const char* fault;
    const char* plugin;
    std::uint64_t times;
    std::uint64_t rows;
};

constexpr short_entry short_list[] = {
    {"canary", "pgoutput", 1, 0},
    {"relay_kill", "pgoutput", 4, 2000},
    {"broker_kill", "wal2json", 4, 5000},
    {"postgres_crash", "pgoutput", 2, 3000},
    {"power_loss", "wal2json", 2, 3000},
    {"cluster_leader_kill", "pgoutput", 2, 3000},
    {"two_relays", "wal2json", 2, 2000},
    {"cut_every_byte", "pgoutput", 40, 0},
    {"table_added", "pgoutput", 1, 0},
    {"table_removed", "wal2json", 1, 0},
    {"failover", "pgoutput", 1, 0},
    {"diverged_standby", "wal2json", 1, 0},
    {"old_primary_returns", "pgoutput", 1, 0},
    {"two_promotions", "wal2json", 1, 0},
    {"broker_and_primary_fail", "wal2json", 1, 0},
    {"sole_writer_changed", "pgoutput", 1, 0},
    {"forged_position", "wal2json", 1, 0},
    {"halt_is_kept", "pgoutput", 1, 0},
    {"restored_disk", "pgoutput", 1, 0},
    {"stream_replaced_idle", "wal2json", 1, 0},
    {"partition_detached", "wal2json", 1, 0},
    {"partition_moved", "pgoutput", 1, 0},
    {"inherits", "pgoutput", 1, 0},
    {"replay_same_stream", "wal2json", 3, 2000},
    {"replay_other_stream", "pgoutput", 3, 2000},
    {"replay_rewind", "wal2json", 1, 0},
    {"replay_lost_slot", "pgoutput", 2, 0},
};

const scenario& find(const std::vector<scenario>& all, const std::string& name) {
    const auto found = std::find_if(all.begin(), all.end(),
                                    [&](const scenario& each) { return each.name == name; });
    if (found == all.end()) {
        throw std::runtime_error("there is no fault \"" + name + "\"; --list shows all");
    }
    return *found;
}

storm_plan plan_of(const chaos_options& chosen, const std::string& plugin, std::uint64_t times,
                   std::uint64_t rows) {
    return {.relay_program = std::filesystem::absolute(chosen.relay_program),
            .plugin = plugin,
            .times = times,
            .rows = rows,
            .writers = chosen.writers,
            .rows_per_second = chosen.rows_per_second,
            .seed = chosen.seed,
            .logs = std::filesystem::absolute(chosen.logs)};
}

std::vector<planned_run> plan_short(const chaos_options& chosen, const std::vector<scenario>& all) {
    std::vector<planned_run> runs;
    for (const auto& entry : short_list) {
        runs.push_back({.what = &find(all, entry.fault),
                        .plan = plan_of(chosen, entry.plugin, entry.times, entry.rows),
                        .nats_server = chosen.nats_server});
    }
    return runs;
}

std::vector<std::string> plugins_of(const chaos_options& chosen) {
    return chosen.plugin == "both" ? std::vector<std::string>{"pgoutput", "wal2json"}
                                   : std::vector<std::string>{chosen.plugin};
}

struct decoding_server {
    std::filesystem::path programs;
    std::string plugin;
};

/// Each version with each plugin that can be used there: Debian's wal2json for 13 is too old.
std::vector<decoding_server> servers_for(const chaos_options& chosen, const scenario& what) {
    constexpr int first_with_wal2json = 14;
    std::vector<std::filesystem::path> all{{}};
    if (what.every_postgres) {
        all.insert(all.end(), chosen.other_postgres.begin(), chosen.other_postgres.end());
    }
    std::vector<decoding_server> servers;
    for (const auto& programs : all) {
        const int version = major_version(postgres_version_of(programs));
        for (const auto& plugin : plugins_of(chosen)) {
            if (version >= what.oldest_postgres &&
                (plugin != "wal2json" || version >= first_with_wal2json)) {
                servers.push_back({.programs = programs, .plugin = plugin});
            }
        }
    }
    return servers;
}

void plan_for_each_plugin(const chaos_options& chosen, const scenario& what,
                          std::vector<planned_run>& runs) {
    constexpr std::uint64_t usual_rows = 5000;
    const auto servers = servers_for(chosen, what);
    std::vector<std::filesystem::path> brokers{chosen.nats_server};
    if (what.every_broker) {
        brokers.insert(brokers.end(), chosen.other_nats_servers.begin(),
                       chosen.other_nats_servers.end());
    }
    if (servers.empty()) {
        return;
    }
    const auto runs_of_it = servers.size() * brokers.size();
    const auto share = [&](std::uint64_t all) { return (all + runs_of_it - 1) / runs_of_it; };
    const bool many = chosen.long_form || chosen.rest_form;
    const auto times = chosen.times.value_or(many ? share(what.long_times) : what.usual_times);
    const auto rows = chosen.rows.value_or(many ? share(what.long_rows) : usual_rows);
    for (const auto& broker : brokers) {
        for (const auto& server : servers) {
            runs.push_back({.what = &what,
                            .plan = plan_of(chosen, server.plugin, times, rows),
                            .nats_server = broker});
            runs.back().plan.postgres_programs = server.programs;
        }
    }
}

}  // namespace

read_options read_command_line(int count, char** words) {
    read_options result;
    result.chosen.seed = std::random_device{}();
    CLI::App app("Breaks what can break around walrelay, and judges the stream afterwards.");
    describe(app, result.chosen);
    try {
        app.parse(count, words);
    } catch (const CLI::ParseError& problem) {
        result.exit_code = app.exit(problem) == 0 ? 0 : 2;
        return result;
    }
    result.chosen.command = "./dev chaos";
    for (int index = 1; index < count; ++index) {
        const std::string word = words[index];
        if (word == "--walrelay" || word == "--seed" || word == "--markdown" || word == "--logs" ||
            word == "--other-nats-servers" || word == "--other-postgres" || word == "--results") {
            ++index;
        } else {
            result.chosen.command += " " + word;
        }
    }
    result.chosen.command += " --seed " + std::to_string(result.chosen.seed);
    return result;
}

std::vector<planned_run> plan_runs(const chaos_options& chosen, const std::vector<scenario>& all) {
    if (chosen.short_form) {
        return plan_short(chosen, all);
    }
    std::vector<planned_run> runs;
    if (chosen.faults.empty()) {
        for (const auto& what : all) {
            if (!(chosen.long_form && !what.in_long_form) &&
                !(chosen.rest_form && what.in_long_form)) {
                plan_for_each_plugin(chosen, what, runs);
            }
        }
    }
    for (const auto& name : chosen.faults) {
        plan_for_each_plugin(chosen, find(all, name), runs);
    }
    return runs;
}

}  // namespace walrelay::chaos
