// What is wrong with the columns of a table: they are there, and the plugin leaves them out.

#include "preflight/columns.hpp"

#include "core/finding.hpp"
#include "core/joined.hpp"
#include "core/sql_text.hpp"
#include "outbox/table_mapper.hpp"

#include <algorithm>
#include <string>

namespace walrelay::preflight {
namespace {

constexpr int first_with_generated = 180'000;

bool contains(const std::vector<std::string>& names, const std::string& name) {
    return std::ranges::find(names, name) != names.end();
}

bool is_sent(const std::string& name, const table_facts& table, const postgres_facts& all,
             output_plugin plugin) {
    const auto generated = std::ranges::find(table.generated, name, &generated_column::name);
    const bool is_generated = generated != table.generated.end();
    if (plugin == output_plugin::wal2json) {
        return !is_generated || generated->stored;
    }
    if (is_generated && (table.published.empty() || all.version_number < first_with_generated)) {
        return false;
    }
    return table.published.empty() || contains(table.published, name);
}

/// Of those that are left out.
struct left_out {
    std::vector<std::string> stored;
    std::vector<std::string> virtuals;
    std::vector<std::string> unlisted;
};

left_out left_out_of(const table_facts& table, const std::vector<column>& sent) {
    left_out names;
    for (const auto& each : table.columns) {
        if (std::ranges::find(sent, each.name, &column::name) != sent.end()) {
            continue;
        }
        const auto generated =
            std::ranges::find(table.generated, each.name, &generated_column::name);
        auto& into = generated == table.generated.end() ? names.unlisted
                     : generated->stored                ? names.stored
                                                        : names.virtuals;
        into.push_back(each.name);
    }
    return names;
}

std::string reason_of(const left_out& names, const expectations& wanted,
                      const postgres_facts& all) {
    std::string reason;
    const auto add = [&](const std::string& why) { reason += (reason.empty() ? "" : "; ") + why; };
    if (!names.stored.empty()) {
        add(all.version_number < first_with_generated
                ? "pgoutput before PostgreSQL 18 sends no generated columns (" +
                      joined(names.stored) + ")"
                : "publication " + wanted.publication + " does not publish generated columns (" +
                      joined(names.stored) + ")");
    }
    if (!names.virtuals.empty()) {
        add("no plugin sends virtual generated columns (" + joined(names.virtuals) + ")");
    }
    if (!names.unlisted.empty()) {
        add("publication " + wanted.publication + " has a column list without " +
            joined(names.unlisted));
    }
    return reason;
}

std::string use_wal2json(const expectations& wanted, const postgres_facts& all) {
    const std::string set = "set postgres.plugin = \"wal2json\", which sends stored ones";
    return all.slot ? "with every relay stopped, " + set +
                          ", then: walrelay init --switch-plugin; slot " + wanted.slot +
                          " goes on from where it stands"
                    : set;
}

std::string remedy_for(const left_out& names, const expectations& wanted, const table_facts& table,
                       const postgres_facts& all) {
    const auto publication = quote_identifier(wanted.publication);
    if (!names.unlisted.empty()) {
        const auto name = quote_table(table.table);
        return "BEGIN; ALTER PUBLICATION " + publication + " DROP TABLE " + name +
               "; ALTER PUBLICATION " + publication + " ADD TABLE " + name +
               "; COMMIT; which publishes the table without a column list and without a row "
               "filter, to everybody who reads the publication; rows that were inserted before "
               "still come as they did";
    }
    const std::string other =
        "name an ordinary column in its place, which the writers or a BEFORE INSERT trigger fill";
    if (!names.virtuals.empty()) {
        return other;
    }
    if (all.version_number >= first_with_generated && all.publication) {
        return "ALTER PUBLICATION " + publication +
               " SET (publish_generated_columns = stored); rows that were inserted before that "
               "still come without";
    }
    return all.wal2json == plugin_trouble::none ? use_wal2json(wanted, all) + "; or " + other
                                                : other;
}

}  // namespace

std::vector<column> sent_columns(const table_facts& table, const postgres_facts& all,
                                 output_plugin plugin) {
    std::vector<column> sent;
    std::ranges::copy_if(table.columns, std::back_inserter(sent), [&](const column& each) {
        return is_sent(each.name, table, all, plugin);
    });
    return sent;
}

void look_at_columns(const expectations& wanted, const outbox_table& outbox,
                     const table_facts& table, const postgres_facts& all, findings_list& found) {
    const auto sent = sent_columns(table, all, choose_plugin(wanted, all));
    const auto mapper = outbox::table_mapper::make(outbox);
    if (!mapper || sent.size() == table.columns.size()) {
        return;
    }
    const auto there = mapper->problems_with(table.columns);
    const auto names = left_out_of(table, sent);
    for (const auto& problem : mapper->problems_with(sent)) {
        if (!contains(there, problem)) {
            found.error("rows_not_mappable",
                        std::string(wanted.dead_letters ? "every row would become a dead letter"
                                                        : "the first row would stop the relay") +
                            ": as PostgreSQL sends its rows, " + problem + "; " +
                            reason_of(names, wanted, all),
                        remedy_for(names, wanted, table, all));
        }
    }
}

}  // namespace walrelay::preflight
