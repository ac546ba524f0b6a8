#include "http/routes.hpp"

#include "core/one_line.hpp"
#include "http/metrics.hpp"
#include "http/page.hpp"
#include "http/status_json.hpp"

#include <boost/asio/ip/address.hpp>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <set>

namespace walrelay::http {
namespace {

constexpr unsigned ok = 200;
constexpr unsigned not_found = 404;
constexpr unsigned unavailable = 503;
constexpr std::string_view plain = "text/plain; charset=utf-8";

answer say(bool fine, std::string text) {
    return {fine ? ok : unavailable, plain, std::move(text) + "\n"};
}

/// The codes of what is more than a note, each once.
std::string found_in(const relay_report& of) {
    if (!of.findings.facts) {
        return "";
    }
    std::set<std::string_view> codes;
    for (const auto& each : *of.findings.facts) {
        if (each.severity != finding_severity::note) {
            codes.insert(each.code.text());
        }
    }
    std::string text;
    for (const auto code : codes) {
        text += text.empty() ? "; found: " : ", ";
        text += code;
    }
    return text;
}

answer readiness(const relay_report& of) {
    const auto& status = of.status;
    const bool ready = is_ready(status.state);
    std::string text = ready ? "ready: " : "not ready: ";
    text += to_string(status.state);
    if (!status.reason.empty()) {
        text += ": " + one_line(status.reason);
    }
    if (ready) {
        text += found_in(of);
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

std::string_view trimmed(std::string_view text) {
    constexpr std::string_view blank = " \t";
    const auto first = std::min(text.find_first_not_of(blank), text.size());
    text.remove_prefix(first);
    return text.substr(0, text.find_last_not_of(blank) + 1);
}

/// Of one media range of the header `Accept`: 1 where it names none, 0 where it is none.
double weight_of(std::string_view range) {
    for (auto at = range.find(';'); at != std::string_view::npos; at = range.find(';', at + 1)) {
        const auto parameter = trimmed(range.substr(at + 1, range.find(';', at + 1) - at - 1));
        if (parameter.starts_with("q=") || parameter.starts_with("Q=")) {
            double weight = 0;
            const auto value = parameter.substr(2);
            std::from_chars(value.data(), value.data() + value.size(), weight);
            return std::clamp(weight, 0.0, 1.0);
        }
    }
    return 1;
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

metric_format format_wanted(std::string_view accept) {
    double text = 0;
    double openmetrics = 0;
    while (!accept.empty()) {
        const auto end = std::min(accept.find(','), accept.size());
        const auto range = accept.substr(0, end);
        accept.remove_prefix(std::min(end + 1, accept.size()));
        const auto type = trimmed(range.substr(0, range.find(';')));
        auto& liked = same_name(type, "application/openmetrics-text") ? openmetrics : text;
        if (&liked == &openmetrics || type.starts_with("text/")) {
            liked = std::max(liked, weight_of(range));
        }
    }
    return openmetrics > 0 && openmetrics >= text ? metric_format::openmetrics
                                                  : metric_format::text;
}

answer answer_to(std::string_view target, const report_source& from, metric_format format) {
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
        return {ok,
                format == metric_format::openmetrics
                    ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
                    : "text/plain; version=0.0.4; charset=utf-8",
                metrics_text(from.report(), format)};
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
