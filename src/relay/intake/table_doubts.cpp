#include "relay/intake/table_doubts.hpp"

#include "core/sql_text.hpp"

#include <algorithm>
#include <utility>

namespace walrelay::relay {
namespace {

/// Both ways on are open to the operator alone, who knows what the table was.
error doubtful_partition(const table_name& table, const table_name& root, const std::string& slot,
                         output_plugin plugin) {
    const std::string by = plugin == output_plugin::wal2json ? "wal2json" : "the publication";
    const auto note = [&](const char* gone_at) {
        return "INSERT INTO walrelay.partition (slot, root_schema, root_table, leaf_schema, "
               "leaf_table, gone_at) VALUES (" +
               quote_literal(slot) + ", " + quote_literal(root.schema) + ", " +
               quote_literal(root.name) + ", " + quote_literal(table.schema) + ", " +
               quote_literal(table.name) + ", " + gone_at + ");";
    };
    return {errc::postgres_unsuitable,
            "rows of table " + to_string(table) + " arrived, which is no partition of " +
                to_string(root) + " now but has its columns: " + by +
                " names only the partition, so they may be rows of one that was detached or "
                "dropped before they were read. The slot still has them",
            "if it was a partition when they were written, this relays them: " +
                note("pg_current_wal_insert_lsn()") + " if it never was one: " + note("'0/0'") +
                " then start again. pgoutput with publish_via_partition_root needs none of this "
                "(docs/operating.md)"};
}

error not_known(const table_name& table) {
    return {errc::table_unknown,
            "rows of table " + to_string(table) +
                " arrived, which was not there, or was no partition, when this connection was made",
            "nothing to do: the catalog is read again and the slot resends the rows"};
}

}  // namespace

table_doubts::table_doubts(const std::vector<outbox::table_mapper>& mappers, std::string slot)
    : mappers_(mappers), slot_(std::move(slot)) {}

void table_doubts::begin(table_catalog catalog) {
    catalog_ = std::move(catalog);
    last_revision_ = 0;
}

std::vector<table_name> table_doubts::begin_stream(output_plugin plugin) {
    plugin_ = plugin;
    std::vector<table_name> settled;
    for (auto each = asked_.begin(); each != asked_.end();) {
        const auto now = catalog_.find(*each, table_catalog::forever).what;
        if (now == table_catalog::answer::kind::outbox) {
            each = asked_.erase(each);
            continue;
        }
        if (now == table_catalog::answer::kind::unknown) {
            catalog_.settle_as_other(*each);
            if (told_.insert(*each).second) {
                settled.push_back(*each);
            }
        }
        ++each;
    }
    return settled;
}

error table_doubts::reread_for(const table_name& table) {
    asked_.insert(table);
    return not_known(table);
}

bool table_doubts::resembles_an_outbox(const relation& table) const {
    return std::ranges::any_of(mappers_, [&table](const outbox::table_mapper& mapper) {
        return mapper.message_prefix().empty() && mapper.problems_with(table.columns).empty();
    });
}

result<table_catalog::answer> table_doubts::whose(const relation& table, const reading& now) {
    const auto commit = now.in.begin.commit;
    if (table.revision == last_revision_ && commit < last_answer_.until) {
        return last_answer_;
    }
    table_name name{table.schema, table.name};
    const auto found = catalog_.find_relation(table, commit);
    if (found.what == table_catalog::answer::kind::unproved &&
        asked_oids_.insert(table.oid).second) {
        return not_known(name);
    }
    if (found.what == table_catalog::answer::kind::unknown) {
        // A transaction whose rows are here may not be seen by others for a moment. Where that
        // matters, all of the catalog is read again, somewhat later.
        if (resembles_an_outbox(table)) {
            return reread_for(name);
        }
        unknown_table_ = std::move(name);
        now.done.is_of_unknown_table = true;
        return found;
    }
    if (found.what == table_catalog::answer::kind::outbox) {
        if (auto known = check_types(table); !known) {
            return known.error();
        }
    }
    if (auto known = check_past(found, table); !known) {
        // It may have been attached since.
        return asked_.contains(name) ? known.error() : reread_for(name);
    }
    last_revision_ = table.revision;
    last_answer_ = found;
    return found;
}

result<void> table_doubts::check_types(const relation& table) {
    for (const auto& each : table.columns) {
        if (!catalog_.knows_type(each.type) && asked_types_.insert(each.type).second) {
            return error{errc::table_unknown,
                         "rows of table " + table.schema + "." + table.name +
                             " arrived whose column \"" + each.name + "\" has a type (oid " +
                             std::to_string(each.type) +
                             ") that was not there when this connection was made",
                         "nothing to do: the catalog is read again and the slot resends the rows"};
        }
    }
    return {};
}

result<void> table_doubts::check_past(const table_catalog::answer& found,
                                      const relation& table) const {
    using past = table_catalog::answer::past;
    if (found.before == past::known) {
        return {};
    }
    const auto has = [&table](const column& each) {
        return std::ranges::find(table.columns, each.name, &column::name) != table.columns.end();
    };
    for (std::size_t index = 0; index < catalog_.table_count(); ++index) {
        if (!catalog_.is_named_by_leaf(index, plugin_)) {
            continue;
        }
        // Of one that is not there any more nobody knows how the outbox was altered since.
        const auto& columns = catalog_.columns_of(index);
        const bool resembles =
            found.before == past::vanished
                ? mappers_[index].problems_with(table.columns).empty()
                : table.columns.size() == columns.size() && std::ranges::all_of(columns, has);
        if (resembles) {
            return doubtful_partition({table.schema, table.name}, mappers_[index].table(), slot_,
                                      plugin_);
        }
    }
    return {};
}

}  // namespace walrelay::relay
