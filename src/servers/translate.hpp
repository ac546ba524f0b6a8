// The settings in the words of each part that works with them.
#pragma once

#include "config/settings.hpp"
#include "core/error.hpp"
#include "nats/session/connect_options.hpp"
#include "outbox/table_mapper.hpp"
#include "postgres/catalog/inspector.hpp"
#include "preflight/preflight.hpp"
#include "relay/machine/relay_machine.hpp"
#include "relay/machine/stream_owner.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace walrelay::servers {

[[nodiscard]] preflight::expectations expectations_of(const config::settings& settings);
[[nodiscard]] relay::stream_owner owner_of(const config::settings& settings,
                                           const postgres_facts& facts);
[[nodiscard]] relay::relay_options relay_options_of(const config::settings& settings);
/// What the subjects of JetStream's API begin with.
[[nodiscard]] std::string api_prefix_of(const config::settings& settings);

[[nodiscard]] nats::connect_options nats_options_of(const config::settings& settings);
[[nodiscard]] nats::stream_definition stream_definition_of(const config::settings& settings);
[[nodiscard]] postgres::inspection_request inspection_of(const config::settings& settings);
[[nodiscard]] std::vector<table_name> table_names_of(const config::settings& settings);
/// Its place among the outboxes; nothing where it is none.
[[nodiscard]] std::optional<std::uint32_t> number_of(const table_name& table,
                                                     const config::settings& settings);
/// Those that are tables, for the publication.
[[nodiscard]] std::vector<table_name> published_tables_of(const config::settings& settings);
/// The same, for trying to create it: none where wal2json is asked for.
[[nodiscard]] std::vector<table_name> tables_to_publish(const config::settings& settings);
[[nodiscard]] std::vector<std::string> message_prefixes_of(const config::settings& settings);
/// The same settings with the outboxes that are tables alone, for what reads rows.
[[nodiscard]] config::settings with_tables_only(config::settings settings);
/// Errors: configuration_invalid, where a template cannot be used.
[[nodiscard]] result<std::vector<outbox::table_mapper>> mappers_of(
    const config::settings& settings);

}  // namespace walrelay::servers
