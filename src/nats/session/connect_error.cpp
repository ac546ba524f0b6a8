#include "nats/session/connect_error.hpp"

#include "core/joined.hpp"
#include "nats/session/server_address.hpp"

#include <algorithm>
#include <utility>

namespace walrelay::nats {
namespace {

std::string names_of(const connect_options& options) {
    return joined(options.urls, ", ", without_password);
}

bool contains_ignoring_case(std::string_view text, std::string_view lower_case) {
    const auto same = [](char left, char right) {
        return (left >= 'A' && left <= 'Z' ? static_cast<char>(left - 'A' + 'a') : left) == right;
    };
    return std::search(text.begin(), text.end(), lower_case.begin(), lower_case.end(), same) !=
           text.end();
}

/// A server that has spoken, in other words than those of below.
error refused_otherwise(const connect_options& options, std::string said) {
    return {errc::broker_unavailable, "the broker at " + names_of(options) + " cannot be reached",
            "", std::move(said)};
}

}  // namespace

bool is_about_a_right(std::string_view said) {
    return contains_ignoring_case(said, "permissions violation");
}

bool is_about_a_line(std::string_view said) {
    return contains_ignoring_case(said, "maximum control line");
}

error refusal(const connect_options& options, std::string_view said) {
    if (is_about_a_right(said)) {
        return not_permitted(options, std::string(said));
    }
    if (is_about_a_line(said)) {
        return line_too_long("walrelay's log-in", std::string(said));
    }
    const bool log_in =
        contains_ignoring_case(said, "auth") || contains_ignoring_case(said, "revoked");
    return log_in ? log_in_refused(options, std::string(said))
                  : refused_otherwise(options, std::string(said));
}

error unreachable(const connect_options& options, const std::string& cause) {
    return {errc::broker_unavailable,
            "the broker at " + names_of(options) + " cannot be reached: " + cause};
}

error lacks_resources(const std::string& cause) {
    return {errc::broker_unavailable,
            "walrelay has too little memory or too few threads for a connection of its own to the "
            "broker: " +
                cause,
            "give the process more: systemd's MemoryMax, LimitAS and TasksMax, ulimit -v and -u"};
}

error without_tls(const connect_options& options, const std::string& cause) {
    return {errc::broker_unavailable,
            "cannot make a TLS connection to the broker at " + names_of(options) + ": " + cause,
            "check that the server has tls, that nats.tls.ca signs its certificate, and that the "
            "certificate names the host as nats.urls does"};
}

error log_in_refused(const connect_options& options, std::string said) {
    return {errc::broker_unavailable, "the broker at " + names_of(options) + " refuses the log-in",
            "check nats.credentials, nats.nkey_seed, nats.user or nats.token_file against the "
            "server's accounts",
            std::move(said)};
}

error line_too_long(const std::string& what, std::string said) {
    return {errc::broker_unsuitable,
            "the broker's max_control_line is smaller than the protocol line of " + what,
            "set max_control_line in nats-server.conf to its default of 4096, or take the line "
            "out, then: nats-server --signal reload",
            std::move(said)};
}

error not_permitted(const connect_options& options, std::string said) {
    const auto& stream = options.stream;
    const auto& api = options.api;
    return {errc::broker_unsuitable, "the broker's account may not do what walrelay needs",
            "grant it publish on the subjects, on " + api + ".STREAM.CREATE." + stream +
                " where walrelay is to make the stream, on " + api + ".STREAM.INFO." + stream +
                ", " + api + ".STREAM.MSG.GET." + stream + ", " + api + ".CONSUMER.CREATE." +
                stream + " and " + api + ".CONSUMER.MSG.NEXT." + stream + ".*, and subscribe on " +
                options.inbox_prefix +
                ".> (docs/security.md has what every command and setting needs)",
            std::move(said)};
}

}  // namespace walrelay::nats
