#include "servers/translate.hpp"

#include <algorithm>
#include <utility>

namespace walrelay::servers {
namespace {

relay::all_duties duties_of(const std::vector<outbox_table>& tables) {
    relay::all_duties duties;
    for (const auto& table : tables) {
        duties.push_back({.writes_back = table.writes_back(),
                          .republish = table.republish,
                          .updates_rows = table.updates_rows()});
    }
    return duties;
}

}  // namespace

preflight::expectations expectations_of(const config::settings& settings) {
    return {settings.postgres.slot,
            settings.postgres.publication,
            settings.postgres.plugin,
            settings.nats.stream,
            settings.outbox,
            settings.postgres.snapshot != config::snapshot_mode::none,
            settings.delivery.on_slot_loss == config::slot_loss_policy::heal,
            settings.nats.sole_writer,
            settings.postgres.failover,
            settings.delivery.on_poison == config::poison_policy::dead_letter,
            api_prefix_of(settings),
            settings.nats.max_bytes ? std::optional(settings.nats.max_bytes->bytes) : std::nullopt,
            settings.nats.subjects,
            settings.delivery.ack_timeout};
}

relay::stream_owner owner_of(const config::settings& settings, const postgres_facts& facts) {
    relay::stream_owner owner;
    owner.slot = settings.postgres.slot;
    owner.database = facts.database;
    owner.system_identifier = facts.origin.system_identifier;
    return owner;
}

relay::relay_options relay_options_of(const config::settings& settings) {
    const auto& delivery = settings.delivery;
    relay::relay_options options;
    options.slot = settings.postgres.slot;
    options.stream = settings.nats.stream;
    options.lane = {delivery.window_messages, delivery.window_bytes.bytes, delivery.ack_timeout,
                    settings.nats.sole_writer};
    options.backoff = {delivery.backoff_initial, delivery.backoff_max};
    options.confirm_delay = delivery.confirm_delay;
    options.max_attempts = delivery.max_attempts;
    options.max_row_bytes = delivery.max_row_bytes.bytes;
    options.heals = delivery.on_slot_loss == config::slot_loss_policy::heal;
    options.dead_letters = delivery.on_poison == config::poison_policy::dead_letter;
    options.duties = duties_of(settings.outbox);
    options.rules = relay::fingerprint_of(settings.outbox);
    options.ids = relay::fingerprints_of_ids(settings.outbox);
    return options;
}

std::string api_prefix_of(const config::settings& settings) {
    const auto& from = settings.nats;
    if (!from.api_prefix.empty()) {
        return from.api_prefix;
    }
    return from.domain.empty() ? "$JS.API" : "$JS." + from.domain + ".API";
}

nats::connect_options nats_options_of(const config::settings& settings) {
    const auto& from = settings.nats;
    nats::connect_options options;
    options.urls = from.urls;
    options.stream = from.stream;
    options.inbox_prefix = from.inbox_prefix;
    options.credentials = from.credentials;
    options.nkey_seed = from.nkey_seed;
    options.user = from.user;
    options.password_file = from.password_file;
    options.token_file = from.token_file;
    options.password = from.password;
    options.token = from.token;
    options.discover = from.discover;
    options.api = api_prefix_of(settings);
    options.tls_ca = from.tls.ca;
    options.tls_cert = from.tls.cert;
    options.tls_key = from.tls.key;
    options.tls_handshake_first = from.tls.handshake_first;
    return options;
}

nats::stream_definition stream_definition_of(const config::settings& settings) {
    const auto& from = settings.nats;
    nats::stream_definition definition{from.stream, from.subjects, from.replicas};
    if (from.max_bytes) {
        definition.max_bytes = from.max_bytes->bytes;
    }
    return definition;
}

std::vector<table_name> table_names_of(const config::settings& settings) {
    std::vector<table_name> names;
    names.reserve(settings.outbox.size());
    for (const auto& table : settings.outbox) {
        names.push_back(table.table);
    }
    return names;
}

std::optional<std::uint32_t> number_of(const table_name& table, const config::settings& settings) {
    const auto& outbox = settings.outbox;
    const auto found = std::ranges::find(outbox, table, &outbox_table::table);
    return found == outbox.end()
               ? std::nullopt
               : std::optional(static_cast<std::uint32_t>(found - outbox.begin()));
}

std::vector<table_name> published_tables_of(const config::settings& settings) {
    return table_names_of(with_tables_only(settings));
}

std::vector<table_name> tables_to_publish(const config::settings& settings) {
    return settings.postgres.plugin == output_plugin::wal2json ? std::vector<table_name>{}
                                                               : published_tables_of(settings);
}

std::vector<std::string> message_prefixes_of(const config::settings& settings) {
    std::vector<std::string> prefixes;
    for (const auto& outbox : settings.outbox) {
        if (outbox.is_tableless()) {
            prefixes.push_back(outbox.message_prefix);
        }
    }
    return prefixes;
}

config::settings with_tables_only(config::settings settings) {
    std::erase_if(settings.outbox, [](const outbox_table& each) { return each.is_tableless(); });
    return settings;
}

postgres::inspection_request inspection_of(const config::settings& settings) {
    postgres::inspection_request wanted{settings.postgres.slot, settings.postgres.publication,
                                        table_names_of(settings), settings.outbox};
    wanted.takes_snapshot = settings.postgres.snapshot != config::snapshot_mode::none;
    wanted.takes_pending = settings.postgres.snapshot == config::snapshot_mode::pending;
    return wanted;
}

result<std::vector<outbox::table_mapper>> mappers_of(const config::settings& settings) {
    std::vector<outbox::table_mapper> mappers;
    for (const auto& table : settings.outbox) {
        auto mapper = outbox::table_mapper::make(table);
        if (!mapper) {
            return mapper.error();
        }
        mappers.push_back(std::move(*mapper));
    }
    return mappers;
}

}  // namespace walrelay::servers
