#include "tasks/cleanup/kept_rules.hpp"

#include "relay/machine/stream_owner.hpp"

#include <utility>

namespace walrelay::tasks {

std::string cleanup_consumer_of(const config::settings& settings, std::size_t table) {
    const auto& name = settings.outbox.at(table).table;
    return nats::consumer_name(
        {"walrelay", settings.postgres.slot, "cleanup", name.schema, name.name});
}

result<row_rules> rules_of_today(const config::settings& settings, const rules_question& of,
                                 const std::optional<std::string>& kept) {
    const auto& known = of.known;
    if (known.connected_at == lsn{}) {
        // What is known of no server is not to be kept.
        return error{errc::postgres_lost, "PostgreSQL was lost while the clean-up began"};
    }
    const auto since = of.table < known.ids_since.size() ? known.ids_since[of.table] : std::nullopt;
    if (!since && settings.nats.sole_writer) {
        return error{errc::broker_unavailable, "it is not known yet which messages of stream " +
                                                   settings.nats.stream +
                                                   " are of this configuration"};
    }
    row_rules now{relay::fingerprint_of_ids(settings.outbox.at(of.table)), of.oid,
                  known.line.origin.system_identifier};
    const marked_ids marked{since.value_or(lsn{}), since && known.ids_are_marked};
    return rules_after(std::move(now), kept, marked, known.connected_at);
}

result<row_rules> recall_rules(nats::cleanup_cursor& cursor, const config::settings& settings,
                               const rules_question& of) {
    auto rules = rules_of_today(settings, of, cursor.note());
    if (!rules) {
        return rules;
    }
    auto note = to_string(*rules);
    if (cursor.note() == note) {
        return rules;
    }
    const auto kept = cursor.keep_note(std::move(note));
    return kept ? std::move(rules) : kept.error();
}

}  // namespace walrelay::tasks
