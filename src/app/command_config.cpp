#include "app/commands.hpp"
#include "app/exit_code.hpp"
#include "app/read_settings.hpp"
#include "config/sample_file.hpp"
#include "core/joined.hpp"
#include "core/nearest.hpp"
#include "core/one_line.hpp"
#include "core/type_oid.hpp"
#include "outbox/table_proposal.hpp"
#include "postgres/catalog/column_hints.hpp"
#include "postgres/catalog/inspector.hpp"
#include "postgres/catalog/table_list.hpp"
#include "preflight/table_meant.hpp"
#include "servers/postgres_access.hpp"
#include "servers/run_to_end.hpp"
#include "servers/translate.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <optional>
#include <string_view>
#include <utility>

namespace walrelay::app {
namespace {

using boost::asio::awaitable;

config::sample sample_of(const config::flag_values& flags) {
    config::sample made;
    for (const auto& [name, text] : flags) {
        made.set[name] = config::file_notation(*config::find_key(name), text);
    }
    return made;
}

void note_columns(const table_facts& table, const outbox::table_proposal& proposal,
                  config::sample& to) {
    std::vector<std::string> names;
    names.reserve(table.columns.size());
    for (const auto& each : table.columns) {
        names.push_back(one_line(each.name));
    }
    std::vector<std::string> roles;
    std::vector<std::string> played;
    played.reserve(proposal.roles.size());
    for (const auto& [role, column] : proposal.roles) {
        played.push_back(fmt::format("{} = {}", to_string(role), config::toml_text(column)));
    }
    for (const auto role : all_roles) {
        if (proposal.column_of(role) == nullptr) {
            roles.emplace_back(to_string(role));
        }
    }
    to.notes.push_back(fmt::format("The columns of the table: {}.", fmt::join(names, ", ")));
    if (!roles.empty()) {
        to.notes.push_back(
            fmt::format("No column plays {}. Name one in columns where the table has one under "
                        "another name.",
                        fmt::join(roles, ", ")));
    }
    to.set["outbox.columns"] = fmt::format("{{ {} }}", fmt::join(played, ", "));
}

void propose_status(const outbox::table_proposal& proposal, config::sample& to) {
    if (proposal.status_column.empty()) {
        return;
    }
    const auto& column = proposal.status_column;
    to.notes.push_back(
        proposal.knows_values
            ? fmt::format("The column {} seems to say whether a row is sent. See that pending, "
                          "republish and on_published say what the service means, then remove "
                          "the #.",
                          column)
            : fmt::format("The column {} seems to say whether a row is sent. The values in "
                          "pending, republish and on_published are guesses: put in those that the "
                          "service writes, then remove the #.",
                          column));
    if (!proposal.pending.empty()) {
        to.proposed["outbox.pending"] = config::toml_text(proposal.pending);
    }
    if (!proposal.on_published.empty()) {
        to.proposed["outbox.on_published"] = config::toml_text(proposal.on_published);
    }
    if (!proposal.republish_value.empty()) {
        to.proposed["outbox.republish"] =
            fmt::format("{{ column = {}, value = {} }}", config::toml_text(proposal.status_column),
                        config::toml_text(proposal.republish_value));
    } else if (proposal.republishes_null) {
        to.notes.push_back(
            fmt::format("Before republish is set: ALTER TABLE ... REPLICA IDENTITY FULL, or every "
                        "UPDATE of a row whose {} is NULL publishes it again.",
                        column));
        to.proposed["outbox.republish"] =
            fmt::format("{{ column = {}, is = \"null\" }}", config::toml_text(column));
    }
}

bool is_text(const table_facts& table, const std::string* name) {
    return name != nullptr && std::ranges::any_of(table.columns, [name](const column& each) {
               return each.name == *name && (each.type == oid::text || each.type == oid::varchar);
           });
}

void note_message(const table_facts& table, const outbox::table_proposal& proposal,
                  config::sample& to) {
    if (!proposal.nullable.empty()) {
        to.notes.push_back(
            fmt::format("{} can be NULL: the subject has the text none in its place. {{a|b}} takes "
                        "another column; without either such a row becomes a dead letter.",
                        fmt::join(proposal.nullable, ", ")));
    }
    if (proposal.body == body_format::payload) {
        to.notes.emplace_back(
            "The payload is bytea: the body is its bytes, and the id is in the header "
            "Nats-Msg-Id. If it is JSON, headers = { \"Content-Type\" = \"application/json\" } "
            "says "
            "so.");
        to.set.try_emplace("outbox.body", config::toml_text("payload"));
    } else if (is_text(table, proposal.column_of(column_role::payload))) {
        to.notes.emplace_back(
            "The payload is text: event_data is a JSON string, also where the text is JSON. To "
            "send "
            "the text alone as JSON: body = \"payload\" and headers = { \"Content-Type\" = "
            "\"application/json\" }.");
    }
}

std::string filled_file(const table_facts& table, const outbox::table_proposal& proposal,
                        const config::flag_values& flags) {
    auto made = sample_of(flags);
    note_columns(table, proposal, made);
    note_message(table, proposal, made);
    propose_status(proposal, made);
    made.set.try_emplace("outbox.subject", config::toml_text(proposal.subject));
    return config::sample_file(made);
}

/// A file for such a table could not be used, or would publish events without their payload.
std::optional<error> what_is_missing(const table_facts& table,
                                     const outbox::table_proposal& proposal,
                                     const outbox_columns& configured) {
    std::vector<std::string_view> missing;
    if (proposal.column_of(column_role::id) == nullptr) {
        missing.emplace_back("the id");
    }
    if (proposal.column_of(column_role::payload) == nullptr && !configured.payload) {
        missing.emplace_back("the payload");
    }
    if (missing.empty()) {
        return std::nullopt;
    }
    const auto names = joined(table.columns, ", ", [](const column& each) { return each.name; });
    return error{errc::postgres_unsuitable,
                 fmt::format("no column of table {} has a name that tells that it holds {}; its "
                             "columns are {}",
                             to_string(table.table), fmt::join(missing, " or "), names),
                 "name it: WALRELAY_OUTBOX_COLUMNS='{ id = \"...\", payload = \"...\" }' walrelay "
                 "config --table ... (payload = \"\" for events that have none)"};
}

int say_why(const error& why) {
    fmt::print(stderr, "walrelay: {}\n", one_line(to_string(why)));
    return exit_findings;
}

awaitable<int> print_for_table(servers::executors on, const config::settings& settings,
                               const config::flag_values& flags) {
    auto sql = co_await servers::open_sql_unchecked(on.loop, settings);
    if (!sql) {
        co_return say_why(sql.error());
    }
    auto wanted = servers::inspection_of(settings);
    const auto facts = co_await postgres::inspect(*sql, std::move(wanted));
    if (!facts) {
        co_return say_why(facts.error());
    }
    const auto& table = facts->tables.front();
    if (!table.exists) {
        co_return say_why(
            {errc::postgres_unsuitable,
             "table " + to_string(table.table) + " is not in the database " + facts->database,
             preflight::hint_at_table(table.table, facts->other_tables) +
                 "name the table with its schema, as in --table public.outbox_events"});
    }
    auto name = table.table;
    auto hints = co_await postgres::read_column_hints(*sql, std::move(name));
    if (!hints) {
        co_return say_why(hints.error());
    }
    const auto& configured = settings.outbox.front().columns;
    const auto proposal = outbox::propose(
        {table.table, table.columns, facts->domains, std::move(*hints), configured});
    if (const auto missing = what_is_missing(table, proposal, configured)) {
        co_return say_why(*missing);
    }
    fmt::print("{}", filled_file(table, proposal, flags));
    co_return exit_done;
}

/// `id = id, payload = event_data`.
std::string roles_of(const outbox::table_proposal& proposal) {
    std::vector<std::string> roles;
    for (const auto& [role, column] : proposal.roles) {
        if (!column.empty()) {
            roles.push_back(fmt::format("{} = {}", to_string(role), one_line(column)));
        }
    }
    return fmt::format("{}", fmt::join(roles, ", "));
}

/// Those whose name says it stand first.
void print_candidates(const std::vector<postgres::listed_table>& tables, std::string& first) {
    std::string likely;
    std::string others;
    for (const auto& each : tables) {
        const auto proposal = outbox::propose({each.table, each.columns, {}, {}, {}});
        if (!outbox::looks_like_outbox(each.table, proposal)) {
            continue;
        }
        const bool is_likely = folded_name(each.table.name).find("outbox") != std::string::npos;
        const auto name = preflight::as_written(each.table);
        if (first.empty() || (is_likely && likely.empty())) {
            first = name;
        }
        (is_likely ? likely : others) +=
            fmt::format("{}\n    {}\n", one_line(name), roles_of(proposal));
    }
    fmt::print("{}{}", likely, others);
}

awaitable<int> print_list(servers::executors on, const config::settings& settings) {
    auto sql = co_await servers::open_sql_unchecked(on.loop, settings);
    if (!sql) {
        co_return say_why(sql.error());
    }
    const auto tables = co_await postgres::list_tables(*sql);
    if (!tables) {
        co_return say_why(tables.error());
    }
    std::string first;
    print_candidates(*tables, first);
    if (first.empty()) {
        co_return say_why({errc::postgres_unsuitable,
                           fmt::format("none of the {} tables of the database looks like an outbox",
                                       tables->size()),
                           "name the table: walrelay config --table public.your_table; it is in "
                           "another database if --postgres names another one"});
    }
    fmt::print(stderr,
               "a configuration for one: walrelay config --postgres \"...\" --table '{}' > "
               "walrelay.toml\n",
               one_line(first));
    co_return exit_done;
}

}  // namespace

int command_config(const command_line& line) {
    auto asked = line;
    if (!line.check_only) {
        // What is required is asked of whoever uses the file.
        asked.flags.try_emplace("postgres.conninfo", "dbname=app");
        asked.flags.try_emplace("outbox.table", "outbox_events");
    }
    std::string file_read;
    const auto settings = read_settings(asked, &file_read);
    if (line.check_only && (settings || !file_read.empty())) {
        fmt::print(settings ? stdout : stderr, "{}\n",
                   file_read.empty() ? "no file was read, only the environment and flags"
                                     : "read " + one_line(file_read));
    }
    if (!settings) {
        return exit_usage;
    }
    fmt::print("{}", line.check_only
                         ? "ok       the configuration can be used; no server was asked\n"
                         : config::sample_file(sample_of(line.flags)));
    return exit_done;
}

int command_config_list(const config::settings& settings) {
    return servers::run_to_end([&](servers::executors on) { return print_list(on, settings); });
}

int command_config_of_table(const config::settings& settings, const config::flag_values& flags) {
    return servers::run_to_end(
        [&](servers::executors on) { return print_for_table(on, settings, flags); });
}

}  // namespace walrelay::app
