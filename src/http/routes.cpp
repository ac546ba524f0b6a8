#include "http/routes.hpp"

#include "core/one_line.hpp"
#include "http/metrics.hpp"
#include "http/page.hpp"
#include "http/status_json.hpp"

#include <boost/asio/ip/address.hpp>

#include <algorithm>
#include <cctype>

namespace walrelay::http {
namespace {

constexpr unsigned ok = 200;
constexpr unsigned not_found = 404;
constexpr unsigned unavailable = 503;
constexpr std::string_view plain = "text/plain; charset=utf-8";

answer say(bool fine, std::string text) {
    return {fine ? ok : unavailable, plain, std::move(text) + "\n"};
}

answer readiness(const relay_report& of) {
    const auto& status = of.status;
    const bool ready = is_ready(status.state);
    std::string text = ready ? "ready: " : "not ready: ";
    text += to_string(status.state);
    if (!status.reason.empty()) {
        text += ": " + one_line(status.reason);
    }
    return say(ready, std::move(text));
}

answer leadership(const relay_report& of) {
    return say(of.status.is_leader, (of.status.is_leader ? "leader: " : "not the leader: ") +
                                        std::string(to_string(of.status.state)));
}

bool same_name(std::string_view one, std::string_view other) {
    const auto lower = [](char each) { return std::tolower(static_cast<unsigned char>(each)); };
    return std::equal(one.begin(), one.end(), other.begin(), other.end(),
                      [&](char left, char right) { return lower(left) == lower(right); });
}

/// Without the port. Nothing is left of a text that is no host.
std::string_view name_in(std::string_view host) {
    std::string_view name = host;
    if (host.starts_with('[')) {
        const auto end = host.find(']');
        if (end == std::string_view::npos) {
            return {};
        }
        name = host.substr(1, end - 1);
        host.remove_prefix(end + 1);
    } else {
        name = host.substr(0, host.find(':'));
        host.remove_prefix(name.size());
    }
    const bool has_port = host.starts_with(':') && std::ranges::all_of(host.substr(1), [](char c) {
                              return c >= '0' && c <= '9';
                          });
    return host.empty() || has_port ? name : std::string_view{};
}

}  // namespace

bool is_known_host(std::string_view host, const std::vector<std::string>& names) {
    const auto name = name_in(host);
    if (name.empty()) {
        return false;
    }
    boost::system::error_code no_address;
    static_cast<void>(boost::asio::ip::make_address(std::string(name), no_address));
    return !no_address || same_name(name, "localhost") ||
           std::ranges::any_of(names, [&](const auto& each) { return same_name(name, each); });
}

answer answer_to(std::string_view target, const report_source& from) {
    constexpr std::string_view json = "application/json";
    const auto path = target.substr(0, target.find('?'));
    if (path == "/healthz") {
        return say(true, "ok");
    }
    if (path == "/readyz") {
        return readiness(from.report());
    }
    if (path == "/leader") {
        return leadership(from.report());
    }
    if (path == "/metrics") {
        return {ok, "text/plain; version=0.0.4; charset=utf-8", metrics_text(from.report())};
    }
    if (path == "/status") {
        return {ok, json, status_json(from.report())};
    }
    if (path == "/status/history") {
        return {ok, json, history_json(from.history())};
    }
    for (const auto& file : page_files()) {
        if (path == file.path) {
            return {ok, file.content_type, std::string(file.content)};
        }
    }
    return {not_found, plain,
            "not found; there are /, /status, /status/history, /metrics, /healthz, /readyz and "
            "/leader\n"};
}

}  // namespace walrelay::http
