// What one setting's text must look like so that the two servers take it.
#pragma once

#include "config/read.hpp"

#include <optional>
#include <string>

namespace walrelay::config {

/// Nothing if all is well.
using text_check = std::optional<complaint> (*)(const std::string&);

/// Files, names of users, templates: judged by whoever uses them.
[[nodiscard]] std::optional<complaint> check_nothing(const std::string& text);

[[nodiscard]] std::optional<complaint> check_not_empty(const std::string& text);

/// Source: PostgreSQL documentation, "Replication Slots"; ReplicationSlotValidateName in slot.c.
[[nodiscard]] std::optional<complaint> check_slot(const std::string& text);

/// Source: PostgreSQL documentation, "Identifiers and Key Words". Taken as it is, case included.
[[nodiscard]] std::optional<complaint> check_publication(const std::string& text);

/// Source: NATS documentation, "Naming" of streams.
[[nodiscard]] std::optional<complaint> check_stream(const std::string& text);

/// Source: NATS documentation, "Subject-Based Messaging". Wildcards are allowed.
[[nodiscard]] std::optional<complaint> check_subject(const std::string& text);

/// The first tokens of subjects: no wildcards, and not those that belong to the server itself.
[[nodiscard]] std::optional<complaint> check_inbox_prefix(const std::string& text);

/// One token of a subject, or nothing. Source: nats-server, a domain is a token of
/// `$JS.<domain>.API`.
[[nodiscard]] std::optional<complaint> check_domain(const std::string& text);

/// The first tokens of subjects, without wildcards, or nothing.
[[nodiscard]] std::optional<complaint> check_api_prefix(const std::string& text);

/// Part of a file's name, or nothing.
[[nodiscard]] std::optional<complaint> check_context(const std::string& text);

/// Of pg_logical_emit_message: letters, digits, `_`, `-`, `.` and `/`, at most 63; empty is
/// nothing. Those that begin with `walrelay.` are walrelay's own.
[[nodiscard]] std::optional<complaint> check_message_prefix(const std::string& text);

/// Never quotes the address: it may hold a password.
[[nodiscard]] std::optional<complaint> check_url(const std::string& text);

/// Source: RFC 7230, section 3.2.6 (token). The broker reads `Nats-` headers itself.
[[nodiscard]] std::optional<complaint> check_header_name(const std::string& text);

/// Of a request to a collector. Never quotes the value: it may be a secret.
/// Source: RFC 7230, section 3.2.
[[nodiscard]] std::optional<complaint> check_request_header(const std::string& name,
                                                            const std::string& text);

/// A URL of a collector, or nothing. Never quotes it: it may hold a password.
[[nodiscard]] std::optional<complaint> check_collector(const std::string& text);

/// An IP address with a port, or "off". Whether the address is one of this machine is found out
/// when it is used.
[[nodiscard]] std::optional<complaint> check_listen(const std::string& text);

/// The name of a host alone.
[[nodiscard]] std::optional<complaint> check_host(const std::string& text);

}  // namespace walrelay::config
