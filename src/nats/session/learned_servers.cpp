#include "nats/session/learned_servers.hpp"

#include "core/joined.hpp"

#include <algorithm>
#include <utility>

namespace walrelay::nats {
namespace {

constexpr std::size_t name_bytes_max = 270;  // of a host and a port

/// Of what may be better by now. A server that is asked in vain holds a connection up for a moment,
/// and may only have been busy; one that takes no publishes costs a connection.
constexpr std::chrono::seconds silence_lasts{15};
constexpr std::chrono::minutes trouble_lasts{5};

bool is_old(std::chrono::steady_clock::time_point then, std::chrono::seconds lasts) {
    return std::chrono::steady_clock::now() - then > lasts;
}

std::string key_of(const connect_options& of) {
    return joined(of.urls, ",");
}

bool is_among(const std::vector<server_address>& servers, const server_address& one) {
    return std::ranges::any_of(servers, [&](const server_address& each) {
        return each.host == one.host && each.port == one.port;
    });
}

std::vector<server_address> configured(const connect_options& of) {
    std::vector<server_address> servers;
    for (const auto& url : of.urls) {
        if (auto server = parse_server_address(url)) {
            servers.push_back(std::move(*server));
        }
    }
    return servers;
}

}  // namespace

learned_servers& learned_servers::shared() {
    static learned_servers all;
    return all;
}

void learned_servers::learn(const connect_options& of, const telling_server& by,
                            const std::vector<std::string>& listed, bool before_tls) {
    if (!of.discover || listed.empty()) {
        return;
    }
    const auto own = configured(of);
    const bool demands_tls = by.over_tls || std::ranges::any_of(own, &server_address::tls);
    std::vector<server_address> found;
    for (const auto& each : listed) {
        if (found.size() == count_max) {
            break;
        }
        if (each.size() > name_bytes_max || each.find_first_of("@/?# ") != std::string::npos) {
            continue;
        }
        auto server = parse_server_address((demands_tls ? "tls://" : "nats://") + each);
        if (!server || is_among(own, *server) || is_among(found, *server)) {
            continue;
        }
        server->user = by.address.user;
        server->password = by.address.password;
        server->token = by.address.token;
        found.push_back(std::move(*server));
    }
    const std::lock_guard lock(guard_);
    known_[key_of(of)] = {std::move(found), !before_tls};
}

std::vector<server_address> learned_servers::others(const connect_options& of) const {
    if (!of.discover) {
        return {};
    }
    const std::lock_guard lock(guard_);
    const auto found = known_.find(key_of(of));
    return found == known_.end() ? std::vector<server_address>{} : found->second.servers;
}

bool learned_servers::may_lead(const connect_options& of) const {
    const std::lock_guard lock(guard_);
    const auto found = known_.find(key_of(of));
    return found != known_.end() && found->second.may_lead;
}

void learned_servers::met(const server_address& server, const std::string& name) {
    if (name.size() > name_bytes_max) {
        return;
    }
    const std::lock_guard lock(guard_);
    if (names_.size() >= names_max) {
        names_.clear();
    }
    names_[to_string(server)] = {name, std::chrono::steady_clock::now()};
}

std::optional<std::string> learned_servers::name_of(const server_address& server) const {
    const std::lock_guard lock(guard_);
    const auto found = names_.find(to_string(server));
    if (found == names_.end() ||
        (found->second.name.empty() && is_old(found->second.at, silence_lasts))) {
        return std::nullopt;
    }
    return found->second.name;
}

void learned_servers::acked(const std::string& name, bool any) {
    const std::lock_guard lock(guard_);
    if (!any) {
        avoided_ = {name, std::chrono::steady_clock::now()};
    } else if (avoided_.name == name) {
        avoided_ = {};
    }
}

bool learned_servers::is_avoided(const std::string& name) const {
    const std::lock_guard lock(guard_);
    return avoided_.name == name && !is_old(avoided_.at, trouble_lasts);
}

}  // namespace walrelay::nats
