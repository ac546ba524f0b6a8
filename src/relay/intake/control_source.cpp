#include "relay/intake/control_source.hpp"

#include "core/control.hpp"
#include "core/dead_letter.hpp"
#include "core/joined.hpp"

namespace walrelay::relay {
namespace {

constexpr const char* not_proved =
    "a row of a table walrelay.control is left alone: it was not written through walrelay's own "
    "table by a role that may read walrelay.control_key";

}  // namespace

result<void> control_source::take(const row_insert& row, const reading& now) {
    const auto said = read_control(row);
    const auto& secret = tables_.catalog().control_secret();
    if (!verifier_.is_proved(said, secret, now.in.begin.xid)) {
        // It may have been made since: who relays without the table reads the catalog once more.
        if (secret.empty() && !tables_.has_asked_for(control_table())) {
            return tables_.reread_for(control_table());
        }
        now.done.remark = not_proved;
        return {};
    }
    if (said.kind == control_kind::own) {
        now.in.own.mark(said, tables_.catalog().outbox_of(said.source_schema, said.source_table));
        return {};
    }
    if (said.slot && *said.slot != options_.slot) {
        return {};
    }
    if (row.too_large_bytes > 0) {
        return take_large(row, said, now);
    }
    if (said.kind == control_kind::retry) {
        return take_retry(said, now);
    }
    if (said.kind == control_kind::replay) {
        return take_replay(said, now);
    }
    return {};
}

result<void> control_source::take_large(const row_insert& row, const control_row& said,
                                        const reading& now) {
    if (said.kind == control_kind::replay) {
        return set_large_aside(row, said, now);
    }
    if (said.kind == control_kind::retry) {
        decline_retry(said,
                      {errc::message_too_large,
                       "walrelay.control holds the row in " + std::to_string(row.too_large_bytes) +
                           " bytes, more than delivery.max_row_bytes = " +
                           std::to_string(options_.max_row_bytes) + " of the relay",
                       "raise that above it for the relay (where its log has row_limit_lowered: "
                       "the memory limit of the process), and restart it before the next retry"},
                      now);
    }
    return {};
}

/// Its content was never read, but it must not be lost without a word.
result<void> control_source::set_large_aside(const row_insert& row, const control_row& said,
                                             const reading& now) {
    const table_name source{std::string(said.source_schema.value_or("")),
                            std::string(said.source_table.value_or(""))};
    const error why{errc::message_too_large,
                    std::string(large_replayed_row) + std::to_string(row.too_large_bytes) +
                        " bytes as walrelay.control holds it, more than delivery.max_row_bytes = " +
                        std::to_string(options_.max_row_bytes),
                    "raise delivery.max_row_bytes (where the log has row_limit_lowered: the memory "
                    "limit of the process), then replay the row again"};
    return events_.set_stranger_aside(source, row, why, now);
}

result<void> control_source::take_replay(const control_row& said, const reading& now) {
    const auto request = replay_request::parse(said, next_revision_++);
    if (!request) {
        now.done.remark = clause_of(to_string(request.error())) + "; it is left alone";
        return {};
    }
    const auto owner = tables_.catalog().find(request->table());
    if (owner.what != table_catalog::answer::kind::outbox) {
        const error why{errc::row_unmappable,
                        "a replayed row of table " + to_string(request->table()) +
                            ", which is no outbox of the configuration now",
                        "configure the table, then: walrelay dead-letter retry"};
        return events_.set_stranger_aside(request->table(), request->row(), why, now);
    }
    return events_.place(now, {owner.index, request->row(), request->occasion(), &request->mark()});
}

result<void> control_source::take_retry(const control_row& said, const reading& now) {
    const auto request = retry_request::parse(said, next_revision_++);
    if (!request) {
        decline_retry(said, request.error(), now);
        return {};
    }
    const auto owner = tables_.catalog().find(request->table());
    if (owner.what != table_catalog::answer::kind::outbox) {
        decline_retry(said,
                      {errc::row_unmappable,
                       "table " + to_string(request->table()) +
                           " is no outbox of the configuration of the relay now",
                       "configure it again and restart the relay before the next retry; or, to go "
                       "on without the row: walrelay dead-letter drop"},
                      now);
        return {};
    }
    return events_.place(now, {owner.index, request->row(), request->occasion()});
}

void control_source::decline_retry(const control_row& said, const error& why,
                                   const reading& now) const {
    const auto which = retry_of(said);
    if (!which) {
        now.done.remark = clause_of(to_string(why)) + "; it is left alone";
        return;
    }
    const table_name source{std::string(said.source_schema.value_or("")),
                            std::string(said.source_table.value_or(""))};
    events_.decline_retry(*which, source, why, now);
}

}  // namespace walrelay::relay
