#include "postgres/session/connect_parameters.hpp"

#include "postgres/session/pq.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

namespace walrelay::postgres {
namespace {

using setting = std::pair<std::string_view, std::string_view>;

/// Without these, a server that vanished would be waited for until the kernel gives up: 2 hours.
constexpr std::array<setting, 5> connection_defaults = {{{"keepalives", "1"},
                                                         {"keepalives_idle", "5"},
                                                         {"keepalives_interval", "3"},
                                                         {"keepalives_count", "3"},
                                                         {"tcp_user_timeout", "15000"}}};

/// Names in lower case. Those that a server's version does not know are left out there.
constexpr std::array<setting, 13> session_pins = {{{"datestyle", "ISO"},
                                                   {"intervalstyle", "postgres"},
                                                   {"extra_float_digits", "3"},
                                                   {"bytea_output", "hex"},
                                                   {"timezone", "UTC"},
                                                   {"client_min_messages", "warning"},
                                                   {"statement_timeout", "0"},
                                                   {"lock_timeout", "0"},
                                                   {"idle_in_transaction_session_timeout", "0"},
                                                   {"idle_session_timeout", "0"},
                                                   {"transaction_timeout", "0"},
                                                   // Compiling takes a hundred times as long as
                                                   // what is asked of catalogs and newest rows.
                                                   {"jit", "off"},
                                                   // What runs for a client that is gone ends.
                                                   {"client_connection_check_interval", "5s"}}};

error unreadable_conninfo(const std::string& key) {
    return {errc::configuration_invalid, key + " is not a connection string of libpq",
            "write it as \"host=... dbname=... user=...\" (values with blanks in single quotes) or "
            "as postgresql://user@host/dbname (special characters percent-encoded)"};
}

/// libpq takes a URI's first `@` or `/` for the end of the user's password. What follows it would
/// be the host's name, which every error names.
bool has_bare_mark_in_password(std::string_view conninfo) {
    for (const std::string_view scheme : {"postgresql://", "postgres://"}) {
        if (conninfo.starts_with(scheme)) {
            const auto rest = conninfo.substr(scheme.size());
            const auto addressed = rest.substr(0, rest.find('?'));
            const auto last = addressed.rfind('@');
            return last != std::string_view::npos && addressed.find_first_of("@/") != last;
        }
    }
    return false;
}

error unreadable_password(const std::string& key) {
    return {errc::configuration_invalid,
            key + " is a URI with an @ or a / in the user or the password",
            "write @ as %40 and / as %2F there, or use a password file (~/.pgpass)"};
}

}  // namespace

result<connect_parameters> connect_parameters::from(const connect_options& options) {
    connect_parameters out;
    if (const auto read = out.take(options.conninfo, "postgres.conninfo"); !read) {
        return read.error();
    }
    connect_parameters over;
    if (const auto read = over.take(options.over, "postgres.writer"); !read) {
        return read.error();
    }
    if (over.has("user")) {
        std::erase_if(out.parameters_,
                      [](const parameter& one) { return one.keyword == "password"; });
    }
    for (auto& [keyword, value] : over.parameters_) {
        out.set(std::move(keyword), std::move(value));
    }
    for (const auto& [keyword, value] : connection_defaults) {
        out.set_default(std::string{keyword}, std::string{value});
    }
    out.set_default("fallback_application_name", options.application_name);
    out.set("client_encoding", "UTF8");
    // A pooler refuses to connect where it is named at all.
    std::erase_if(out.parameters_,
                  [](const parameter& one) { return one.keyword == "replication"; });
    if (options.kind == connection_kind::replication) {
        out.set("replication", "database");
    }
    return out;
}

result<void> connect_parameters::take(const std::string& conninfo, const std::string& key) {
    if (has_bare_mark_in_password(conninfo)) {
        return unreadable_password(key);
    }
    const pq_conninfo parsed{PQconninfoParse(conninfo.c_str(), nullptr)};
    if (parsed == nullptr) {
        return unreadable_conninfo(key);
    }
    for (const auto* option = parsed.get(); option->keyword != nullptr; ++option) {
        if (option->val != nullptr) {
            set(option->keyword, option->val);
        }
    }
    return {};
}

bool connect_parameters::has(std::string_view keyword) const {
    return std::ranges::find(parameters_, keyword, &parameter::keyword) != parameters_.end();
}

void connect_parameters::set(std::string keyword, std::string value) {
    const auto same = std::ranges::find(parameters_, keyword, &parameter::keyword);
    if (same != parameters_.end()) {
        same->value = std::move(value);
    } else {
        parameters_.push_back({std::move(keyword), std::move(value)});
    }
}

void connect_parameters::set_default(std::string keyword, std::string value) {
    if (!has(keyword)) {
        set(std::move(keyword), std::move(value));
    }
}

std::vector<const char*> connect_parameters::keywords() const {
    std::vector<const char*> out;
    std::ranges::transform(parameters_, std::back_inserter(out),
                           [](const parameter& one) { return one.keyword.c_str(); });
    out.push_back(nullptr);
    return out;
}

std::vector<const char*> connect_parameters::values() const {
    std::vector<const char*> out;
    std::ranges::transform(parameters_, std::back_inserter(out),
                           [](const parameter& one) { return one.value.c_str(); });
    out.push_back(nullptr);
    return out;
}

std::string pin_statement(connection_kind kind, std::optional<int> process) {
    std::string list;
    for (const auto& [name, value] : session_pins) {
        list += fmt::format("{}('{}', '{}')", list.empty() ? "" : ", ", name, value);
    }
    if (kind == connection_kind::sql) {
        list += ", ('search_path', 'pg_catalog')";
    }
    const auto only_of = process ? fmt::format(
                                       " AND pg_catalog.pg_backend_pid() "
                                       "OPERATOR(pg_catalog.=) {}",
                                       *process)
                                 : std::string();
    return fmt::format(
        "SELECT pg_catalog.set_config(s.name, v.value, false) FROM pg_catalog.pg_settings AS s, "
        "(VALUES {}) AS v (name, value) WHERE pg_catalog.lower(s.name) OPERATOR(pg_catalog.=) "
        "v.name{}",
        list, only_of);
}

std::optional<std::string> unknown_keyword(const std::string& conninfo) {
    char* said = nullptr;
    const pq_conninfo parsed{PQconninfoParse(conninfo.c_str(), &said)};
    const pq_buffer words{said};
    const std::string text = said == nullptr ? "" : said;
    for (const std::string_view begins :
         {"invalid connection option \"", "invalid URI query parameter: \""}) {
        if (text.starts_with(begins)) {
            return text.substr(begins.size(), text.rfind('"') - begins.size());
        }
    }
    return std::nullopt;
}

bool has_password(const std::string& conninfo) {
    const pq_conninfo parsed{PQconninfoParse(conninfo.c_str(), nullptr)};
    for (const auto* option = parsed.get(); option != nullptr && option->keyword != nullptr;
         ++option) {
        const std::string_view keyword = option->keyword;
        const bool is_secret = keyword == "password" || keyword == "sslpassword";
        if (is_secret && option->val != nullptr && *option->val != '\0') {
            return true;
        }
    }
    return false;
}

std::vector<std::string> known_keywords() {
    std::vector<std::string> names;
    const pq_conninfo known{PQconndefaults()};
    for (const auto* option = known.get(); option != nullptr && option->keyword != nullptr;
         ++option) {
        names.emplace_back(option->keyword);
    }
    return names;
}

result<void> check_conninfo(const std::string& conninfo, const std::string& key) {
    return connect_parameters().take(conninfo, key);
}

}  // namespace walrelay::postgres
