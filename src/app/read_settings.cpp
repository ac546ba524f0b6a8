#include "app/read_settings.hpp"

#include "app/exposed_secret.hpp"
#include "app/file_owner.hpp"
#include "app/nats_context_file.hpp"
#include "core/nearest.hpp"
#include "core/sql_text.hpp"
#include "postgres/session/connection.hpp"
#include "servers/translate.hpp"

#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

namespace walrelay::app {
namespace {

constexpr const char* own_folder_file = "./walrelay.toml";
constexpr std::array default_files{own_folder_file, "/etc/walrelay/walrelay.toml"};

std::optional<std::string> read_file(const std::string& name) {
    std::error_code unknown;
    const auto kind = std::filesystem::status(name, unknown).type();
    if (kind != std::filesystem::file_type::regular && kind != std::filesystem::file_type::fifo) {
        return std::nullopt;
    }
    std::ifstream file(name, std::ios::binary);
    if (!file) {
        return std::nullopt;
    }
    std::string text{std::istreambuf_iterator<char>(file), {}};
    return file.bad() ? std::nullopt : std::optional(std::move(text));
}

config::environment read_environment() {
    constexpr std::string_view prefix = "WALRELAY_";
    config::environment variables;
    for (char** each = environ; *each != nullptr; ++each) {
        const std::string_view variable = *each;
        const auto equals = variable.find('=');
        if (variable.starts_with(prefix) && equals != std::string_view::npos) {
            variables.emplace(variable.substr(0, equals), variable.substr(equals + 1));
        }
    }
    return variables;
}

std::optional<std::string> value_in_environment(const char* name) {
    const char* const text = std::getenv(name);
    return text == nullptr ? std::nullopt : std::optional<std::string>(text);
}

void print(const std::string& problem) {
    fmt::print(stderr, "walrelay: {}\n", problem);
}

/// False if a file that was asked for cannot be read.
bool find_file(const command_line& line, config::sources& into) {
    if (line.wanted == command::config && !line.check_only) {
        return true;  // what is printed does not depend on the file that may be there
    }
    if (line.config_file) {
        into.file_name = *line.config_file;
        into.file_text = read_file(*line.config_file);
        return into.file_text.has_value();
    }
    for (const auto* const name : default_files) {
        if (name == own_folder_file && others_may_write(name)) {
            print(
                fmt::format("{} is not read, because another user may write it; fix: chmod go-w, "
                            "chown, or name it with --config",
                            name));
        } else if (auto text = read_file(name)) {
            into.file_name = name;
            into.file_text = std::move(text);
            return true;
        }
    }
    return true;
}

/// Names the keyword that was mistyped, if it was that.
error with_the_keyword(const std::string& conninfo, const std::string& key, const error& why) {
    const auto unknown = postgres::unknown_keyword(conninfo);
    const auto meant = unknown ? nearest(*unknown, postgres::known_keywords()) : std::nullopt;
    return meant ? error{why.code, key + ": libpq has no keyword " + *unknown,
                         "write " + *meant + " in its place"}
                 : why;
}

bool judge_conninfo(const std::string& conninfo, const std::string& key) {
    const auto taken = postgres::check_conninfo(conninfo, key);
    if (!taken) {
        print(to_string(with_the_keyword(conninfo, key, taken.error())));
    }
    return taken.has_value();
}

/// Whether libpq takes both conninfos and every template can be used; says what not.
bool judge(const config::settings& settings) {
    const bool reaches = judge_conninfo(settings.postgres.conninfo, "postgres.conninfo");
    const bool writes = judge_conninfo(settings.postgres.writer, "postgres.writer");
    const auto mappers = servers::mappers_of(settings);
    if (!mappers) {
        print(to_string(mappers.error()));
    }
    return reaches && writes && mappers.has_value();
}

const char* place_for_secret(const std::string& key) {
    if (key == "traces.headers") {
        return "in the variable WALRELAY_TRACES_HEADERS";
    }
    if (key == "postgres.writer") {
        return "in a file of its own: postgres.writer_password_file";
    }
    return key == "nats.urls"
               ? "in a file of its own: nats.user and nats.password_file, or nats.token_file"
               : "in a file of its own: postgres.password_file";
}

bool keeps_its_secrets(const std::string& file, const std::string& text,
                       const config::settings& settings) {
    const auto key = exposed_secret(file, text, settings);
    if (key) {
        print(
            fmt::format("{} of {} holds a password, and every user of this machine can read that "
                        "file; fix: chmod o= {} (walrelay's user must still be able to read it), "
                        "or keep the password {}",
                        *key, file, file, place_for_secret(*key)));
    }
    return !key;
}

bool is_missing_table(const config::problem& problem) {
    return problem.key == "outbox" && problem.what == "no table is named";
}

bool is_missing_server(const config::problem& problem) {
    return problem.key == "postgres.conninfo" && problem.what == "is not set";
}

bool reads_rows(const command_line& line) {
    return line.wanted == command::replay && (line.replay.action == tasks::replay_action::replay ||
                                              line.replay.action == tasks::replay_action::resume);
}

/// Dead letters and halts lie in walrelay's own tables, and slot and stream are shown, whatever
/// tables are relayed. As with `run`, --table names the one table that there is.
bool needs_no_table(const command_line& line) {
    return line.wanted == command::dead_letter ||
           (line.wanted == command::resume && !line.resume.give_up) ||
           line.wanted == command::status || line.wanted == command::drop || line.list_tables ||
           (line.wanted == command::replay &&
            (!reads_rows(line) || line.replay.tables.size() == 1));
}

/// A relay that answers is asked at its port alone: a health check need not know more.
bool can_do_without(const command_line& line, const config::problem& missing) {
    return (is_missing_table(missing) && needs_no_table(line)) ||
           (is_missing_server(missing) && line.wanted == command::status);
}

/// Loads once more, with something in place of what the command can do without.
boost::system::result<config::settings, std::vector<config::problem>> load_without(
    const command_line& line, config::sources from, const std::vector<config::problem>& missing) {
    const bool has_no_server = std::ranges::any_of(missing, is_missing_server);
    if (std::ranges::any_of(missing, is_missing_table)) {
        from.flags["outbox.table"] =
            reads_rows(line) ? quote_table(line.replay.tables.front()) : "walrelay.dead_letter";
    }
    if (has_no_server) {
        from.flags["postgres.conninfo"] = "dbname=none";
    }
    auto loaded = config::load(from);
    if (loaded && has_no_server) {
        loaded->postgres.conninfo.clear();
    }
    return loaded;
}

}  // namespace

std::optional<config::settings> read_settings(const command_line& line, std::string* file_read) {
    config::sources from;
    from.variables = read_environment();
    from.flags = line.flags;
    from.nats_url = value_in_environment("NATS_URL");
    from.read_context = [](const std::string& name) {
        return read_nats_context(name, value_in_environment("XDG_CONFIG_HOME"),
                                 value_in_environment("HOME"));
    };
    if (!find_file(line, from)) {
        fmt::print(stderr,
                   "walrelay: the configuration file {} cannot be read; fix: check the name "
                   "and that this user may read it\n",
                   *line.config_file);
        return std::nullopt;
    }
    if (file_read != nullptr) {
        *file_read = from.file_name;
    }
    auto loaded = config::load(from);
    if (!loaded && std::ranges::all_of(loaded.error(), [&line](const auto& each) {
            return can_do_without(line, each);
        })) {
        loaded = load_without(line, from, loaded.error());
    }
    if (loaded) {
        const auto text = from.file_text.value_or("");
        const bool is_kept = keeps_its_secrets(from.file_name, text, *loaded);
        return is_kept && judge(*loaded) ? std::optional(std::move(*loaded)) : std::nullopt;
    }
    for (const auto& problem : loaded.error()) {
        print(to_string(problem));
    }
    return std::nullopt;
}

}  // namespace walrelay::app
