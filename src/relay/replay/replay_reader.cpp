#include "relay/replay/replay_reader.hpp"

#include "core/control.hpp"
#include "relay/intake/control_row.hpp"
#include "relay/intake/row_json.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace walrelay::relay {
namespace {

/// What else is in a row of walrelay.control, at most.
constexpr std::size_t beside_the_event_bytes = 4096;
constexpr std::size_t kept_content_bytes = std::size_t{64} * 1024;

error too_large_to_replay(const row_insert& row, const position& where) {
    return {errc::message_too_large,
            "the row at position " + to_string(where) + " has " +
                std::to_string(row.too_large_bytes) +
                " bytes, more than delivery.max_row_bytes; it is not replayed"};
}

error of_no_outbox(const table_name& source) {
    return {errc::row_unmappable,
            "table " + to_string(source) + " is no outbox of the configuration"};
}

}  // namespace

replay_reader::replay_reader(std::vector<outbox::table_mapper> mappers, table_catalog catalog,
                             replay_source source, replay_range range, replay_choice choice)
    : mappers_(std::move(mappers)),
      catalog_(std::move(catalog)),
      source_(std::move(source)),
      range_(range),
      choice_(std::move(choice)),
      frames_(source_.plugin) {
    frames_.by().limit_rows(source_.max_row_bytes);
    for (std::size_t index = 0; index < mappers_.size(); ++index) {
        auto& mapper = mappers_[index];
        mapper.keep_aggregates();
        mapper.set_domains(catalog_.domains(), catalog_.types());
        if (!mapper.message_prefix().empty()) {
            message_rows rows(mapper.table(), mapper.named_columns());
            by_prefix_.emplace(mapper.message_prefix(), tableless{index, std::move(rows)});
        }
    }
}

result<replay_read> replay_reader::read(std::string_view frame) {
    const auto parsed = wal::parse_frame(frame);
    if (!parsed) {
        return parsed.error();
    }
    replay_read done;
    if (const auto* const alive = std::get_if<wal::keepalive>(&*parsed)) {
        frames_.read(*alive);
        done.alive = *alive;
        done.received = alive->end;
        done.ended = !transaction_ && alive->end >= range_.until;
        return done;
    }
    const auto& data = std::get<wal::xlog_data>(*parsed);
    done.received = data.start;
    if (auto taken = take(data, done); !taken) {
        return taken.error();
    }
    return done;
}

result<void> replay_reader::take(const wal::xlog_data& data, replay_read& done) {
    const auto decoded = frames_.read(data);
    if (!decoded) {
        return decoded.error();
    }
    if (const auto* const begin = std::get_if<transaction_begin>(&*decoded)) {
        transaction_ = open_transaction{*begin};
        done.ended = begin->commit >= range_.until;
    } else if (const auto* const commit = std::get_if<transaction_commit>(&*decoded)) {
        transaction_.reset();
        done.committed = true;
        done.ended = commit->end >= range_.until;
    } else if (transaction_ && !std::holds_alternative<nothing_to_relay>(*decoded)) {
        transaction_->stand_at(data.start);
        return take_change(*decoded, done);
    }
    return {};
}

result<void> replay_reader::take_change(const change& decoded, replay_read& done) {
    if (const auto* const row = std::get_if<row_insert>(&decoded)) {
        take_insert(*row, done);
    } else if (const auto* const said = std::get_if<logical_message>(&decoded)) {
        take_message(*said, done);
    }
    return {};
}

void replay_reader::take_insert(const row_insert& row, replay_read& done) {
    using kind = table_catalog::answer::kind;
    const auto owner = catalog_.find_relation(*row.table, transaction_->begin.commit);
    if (owner.what == kind::control) {
        const auto said = read_control(row);
        const bool is_proved =
            verifier_.is_proved(said, catalog_.control_secret(), transaction_->begin.xid);
        if (is_proved && said.kind == control_kind::own) {
            transaction_->own.mark(said, catalog_.outbox_of(said.source_schema, said.source_table));
        }
        return;
    }
    if (owner.what == kind::outbox) {
        const bool is_moved = transaction_->own.any() && owner.index < source_.duties.size() &&
                              source_.duties[owner.index].updates_rows &&
                              catalog_.is_partitioned(owner.index) &&
                              transaction_->own.has(owner.index, mappers_[owner.index], row);
        if (!is_moved) {
            give(owner.index, row, done);
        }
    } else if (owner.what != kind::unproved && resembles_an_outbox(*row.table)) {
        give(std::nullopt, row, done);
    }
}

void replay_reader::take_message(const logical_message& said, replay_read& done) {
    const auto ours = by_prefix_.find(said.prefix);
    if (ours == by_prefix_.end()) {
        return;
    }
    auto& from = ours->second;
    if (said.too_large_bytes > 0) {
        auto row = from.rows.unreadable("");
        row.too_large_bytes = said.too_large_bytes;
        give(from.table, row, done);
        return;
    }
    const auto row = from.rows.read(said.content);
    give(from.table, row ? *row : from.rows.unreadable(said.content), done);
}

/// A table that was renamed, dropped or taken out of the configuration since.
bool replay_reader::resembles_an_outbox(const relation& table) {
    if (judged_revision_ != table.revision) {
        judged_revision_ = table.revision;
        judged_ = std::ranges::any_of(mappers_, [&table](const outbox::table_mapper& mapper) {
            return mapper.message_prefix().empty() && mapper.problems_with(table.columns).empty();
        });
    }
    return judged_;
}

void replay_reader::give(std::optional<std::size_t> table, const row_insert& row,
                         replay_read& done) {
    const auto here = *transaction_->at;
    if (!range_.holds(here) || !range_.holds(transaction_->begin.committed_at) ||
        (table ? !choice_.takes_table(*table) : !choice_.tables.empty())) {
        return;
    }
    const history origin{source_.line.origin.system_identifier, source_.line.timeline_of(here.row)};
    replayed_row found{
        {origin, here},
        transaction_->begin.committed_at,
        table ? mappers_[*table].table() : table_name{row.table->schema, row.table->name},
        table,
        row};
    content_.clear(kept_content_bytes);
    content_.where = found.where;
    content_.committed_at = found.committed_at;
    found.content = &content_;
    const bool needs_event = source_.as == replayed_as::control_row && row.too_large_bytes == 0;
    found.event = needs_event ? row_as_json(row) : std::string{};
    if (found.event.size() + beside_the_event_bytes > source_.max_row_bytes) {
        found.row.too_large_bytes = found.event.size();
        found.event.clear();
    }
    if (!table) {
        found.unmappable = of_no_outbox(found.source);
    } else if (auto mapped = mappers_[*table].map(row, content_); !mapped) {
        found.unmappable = mapped.error();
    }
    if (found.row.too_large_bytes > 0) {
        // All the same it is known by its id, of which the decoder keeps enough.
        found.unmappable = too_large_to_replay(found.row, found.where);
    }
    if (found.unmappable ? choice_.needs_mapping() : !choice_.takes(content_)) {
        return;
    }
    done.row = std::move(found);
}

}  // namespace walrelay::relay
