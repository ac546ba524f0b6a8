// The intake's updates: rows that are published again.

#include "core/assert.hpp"
#include "relay/intake/intake.hpp"

#include <algorithm>
#include <utility>

namespace walrelay::relay {
namespace {

error gone(const table_name& table, const commit_position& where) {
    return {errc::row_unmappable,
            "a row of table " + to_string(table) + " that was updated to be published again (LSN " +
                to_string(where.commit) +
                ") is no longer there under that id, and the WAL does not hold the large values "
                "that its UPDATE left alone",
            "ALTER TABLE ... REPLICA IDENTITY FULL puts them into the WAL"};
}

}  // namespace

void intake::watch_updates() {
    const bool any = std::ranges::any_of(
        options_.duties, [](const table_duties& each) { return each.republish.has_value(); });
    if (!any) {
        return;
    }
    decoder_->want_updates([this](std::string_view schema, std::string_view name) {
        const auto owner = catalog_.find({std::string(schema), std::string(name)});
        // One that is not known may be a new partition.
        return owner.what == table_catalog::answer::kind::unknown ||
               (owner.what == table_catalog::answer::kind::outbox &&
                owner.index < options_.duties.size() && options_.duties[owner.index].republish);
    });
}

result<void> intake::take(const row_update& row, lane& into, frame_read& done) {
    WALRELAY_ASSERT(transaction_.has_value());
    if (transaction_->own) {
        return {};
    }
    const auto owner = whose(*row.table, done);
    if (!owner) {
        return owner.error();
    }
    if (owner->what != table_catalog::answer::kind::outbox ||
        owner->index >= options_.duties.size()) {
        return {};
    }
    const auto& rule = options_.duties[owner->index].republish;
    if (!rule || !publishes_again(*rule, row)) {
        return {};
    }
    const auto here = place();
    const auto occasion = republish_occasion(here, into.line());
    const row_insert now{row.table, row.fields, row.too_large_bytes};
    if (into.covers(here) || row.too_large_bytes > 0 || is_whole(owner->index, row)) {
        return place_event(here, owner->index, now, occasion, into, done);
    }
    const auto key = mappers_[owner->index].id_of(now);
    if (!key) {
        return set_incomplete_aside(owner->index, now, occasion, into, done);
    }
    unfinished_.emplace(owner->index, here, row);
    done.incomplete = {owner->index, std::string(*key), transaction_->begin.xid};
    return {};
}

/// An UPDATE that moves a row to another partition is a DELETE and an INSERT in the WAL. Asked only
/// for transactions that carry walrelay's mark; a table that no write-back can move is no part of
/// it.
bool intake::is_moved_by_us(std::size_t mapper) const {
    return mapper < options_.duties.size() && options_.duties[mapper].updates_rows &&
           catalog_.is_partitioned(mapper);
}

bool intake::is_whole(std::size_t mapper, const row_update& row) const {
    if (!row.missing.empty()) {
        return false;
    }
    // wal2json does not name the columns that it leaves out.
    return plugin_ != output_plugin::wal2json ||
           std::ranges::all_of(catalog_.columns_of(mapper), [&](const column& each) {
               return std::ranges::find(row.table->columns, each.name, &column::name) !=
                      row.table->columns.end();
           });
}

result<frame_read> intake::complete(std::optional<table_row> fetched, lane& into) {
    WALRELAY_ASSERT(unfinished_.has_value() && transaction_.has_value());
    const auto unfinished = std::move(*unfinished_);
    unfinished_.reset();
    const auto mapper = unfinished.table();
    const auto occasion = republish_occasion(unfinished.where(), into.line());
    const bool found = fetched.has_value();
    const auto too_large_bytes = found ? fetched->too_large_bytes : 0;
    const auto content = found && too_large_bytes == 0 ? unfinished.completed(std::move(*fetched))
                                                       : unfinished.known();
    const row_of_table row(mappers_[mapper].table(), content, next_retry_revision_++);
    auto event = with_size(row.row());
    event.too_large_bytes = std::max(event.too_large_bytes, too_large_bytes);
    frame_read done;
    const auto taken = found ? place_event(unfinished.where(), mapper, event, occasion, into, done)
                             : set_incomplete_aside(mapper, row.row(), occasion, into, done);
    if (!taken) {
        return taken.error();
    }
    return done;
}

/// Without what is missing it cannot be retried, so the dead letter is kept without its content.
result<void> intake::set_incomplete_aside(std::size_t mapper, const row_insert& row,
                                          std::string_view occasion, lane& into, frame_read& done) {
    const auto here = *transaction_->last_event;
    if (into.covers(here)) {
        return {};
    }
    message& filled = vacancy_for(here, into);
    // As far as it can be mapped.
    static_cast<void>(fill(mapper, row, occasion, filled));
    return set_aside_without_content(mapper, row, filled, gone(mappers_[mapper].table(), here),
                                     done);
}

}  // namespace walrelay::relay
