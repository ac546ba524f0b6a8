#include "relay/intake/update_source.hpp"

#include "core/assert.hpp"

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

void update_source::watch(wal::decoder& decoder) const {
    const bool any = std::ranges::any_of(
        options_.duties, [](const table_duties& each) { return each.republish.has_value(); });
    if (!any) {
        return;
    }
    decoder.want_updates([this](std::string_view schema, std::string_view name) {
        const auto owner = tables_.catalog().find({std::string(schema), std::string(name)});
        // One that is not known may be a new partition.
        return owner.what == table_catalog::answer::kind::unknown ||
               (owner.what == table_catalog::answer::kind::outbox &&
                owner.index < options_.duties.size() && options_.duties[owner.index].republish);
    });
}

result<void> update_source::take(const row_update& row, const reading& now) {
    const auto owner = tables_.whose(*row.table, now);
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
    const row_insert as_it_is{row.table, row.fields, row.too_large_bytes};
    if (now.in.own.any() &&
        now.in.own.has(owner->index, events_.mappers()[owner->index], as_it_is)) {
        return {};
    }
    const auto here = now.in.place();
    const auto occasion = republish_occasion(here, now.into.line());
    const outbox_event event{owner->index, as_it_is, occasion};
    if (now.into.covers(here) || row.too_large_bytes > 0 || is_whole(owner->index, row)) {
        return events_.place_at(here, now, event);
    }
    const auto key = events_.mappers()[owner->index].id_of(event.row);
    if (!key) {
        return set_incomplete_aside(event, now);
    }
    unfinished_.emplace(owner->index, here, row);
    now.done.incomplete = {owner->index, std::string(*key), now.in.begin.xid};
    return {};
}

bool update_source::is_whole(std::size_t table, const row_update& row) const {
    if (!row.missing.empty()) {
        return false;
    }
    // wal2json does not name the columns that it leaves out.
    return tables_.plugin() != output_plugin::wal2json ||
           std::ranges::all_of(tables_.catalog().columns_of(table), [&](const column& each) {
               return std::ranges::find(row.table->columns, each.name, &column::name) !=
                      row.table->columns.end();
           });
}

result<void> update_source::complete(std::optional<table_row> fetched, std::uint64_t revision,
                                     const reading& now) {
    WALRELAY_ASSERT(unfinished_.has_value());
    const auto unfinished = std::move(*unfinished_);
    unfinished_.reset();
    const auto table = unfinished.table();
    const auto occasion = republish_occasion(unfinished.where(), now.into.line());
    const bool found = fetched.has_value();
    const auto too_large_bytes = found ? fetched->too_large_bytes : 0;
    const auto content = found && too_large_bytes == 0 ? unfinished.completed(std::move(*fetched))
                                                       : unfinished.known();
    const row_of_table row(events_.mappers()[table].table(), content, revision);
    if (!found) {
        return set_incomplete_aside({table, row.row(), occasion}, now);
    }
    outbox_event event{table, events_.with_size(row.row()), occasion};
    event.row.too_large_bytes = std::max(event.row.too_large_bytes, too_large_bytes);
    return events_.place_at(unfinished.where(), now, event);
}

/// Without what is missing nothing can be published, so the dead letter is kept without its
/// content.
result<void> update_source::set_incomplete_aside(const outbox_event& event, const reading& now) {
    const auto here = *now.in.last_event;
    message& filled = events_.vacancy_for(here, now);
    // As far as it can be mapped: it is known by its id.
    static_cast<void>(events_.fill(event, filled));
    if (events_.needs_no_letter(filled, now)) {
        return {};
    }
    return events_.set_aside_without_content(
        event, filled, gone(events_.mappers()[event.table].table(), here), now.done);
}

}  // namespace walrelay::relay
