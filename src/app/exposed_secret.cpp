#include "app/exposed_secret.hpp"

#include "files/ordinary_file.hpp"
#include "nats/session/server_address.hpp"
#include "postgres/session/connection.hpp"

#include <algorithm>
#include <utility>

namespace walrelay::app {
namespace {

bool has_secret(const std::string& url) {
    const auto server = nats::parse_server_address(url);
    return server && !(server->password.empty() && server->token.empty());
}

}  // namespace

std::optional<std::string> exposed_secret(const std::string& file_name,
                                          const std::string& file_text,
                                          const config::settings& settings) {
    // What comes from a variable or a flag does not stand there.
    const auto stands_there = [&](const std::string& value) {
        return file_text.find(value) != std::string::npos;
    };
    if (file_text.empty() || !files::is_public(file_name)) {
        return std::nullopt;
    }
    const auto& postgres = settings.postgres;
    for (const auto& [key, conninfo] : {std::pair("postgres.conninfo", &postgres.conninfo),
                                        std::pair("postgres.writer", &postgres.writer)}) {
        if (postgres::has_password(*conninfo) && stands_there(*conninfo)) {
            return key;
        }
    }
    const auto& urls = settings.nats.urls;
    const bool tells = std::ranges::any_of(
        urls, [&](const std::string& url) { return has_secret(url) && stands_there(url); });
    if (tells) {
        return "nats.urls";
    }
    const bool shows = std::ranges::any_of(settings.traces.headers, [&](const auto& header) {
        return !header.second.empty() && stands_there(header.second);
    });
    return shows ? std::optional<std::string>("traces.headers") : std::nullopt;
}

}  // namespace walrelay::app
