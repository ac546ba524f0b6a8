// The values of a file go into the draft.
#include "config/take_file.hpp"

#include "config/document.hpp"
#include "config/read.hpp"
#include "config/unknown.hpp"

#include <algorithm>
#include <functional>
#include <string>

namespace walrelay::config {
namespace {

using taker = std::function<void(const key&, const value&)>;

/// Whether keys stand below the name, as `tls.ca` below `tls`.
bool is_group(std::string_view section, const std::string& name) {
    const std::string prefix = name + '.';
    return std::any_of(keys().begin(), keys().end(), [&](const key& row) {
        return row.about.section == section && row.about.name.starts_with(prefix);
    });
}

void take_members(std::string_view section, const std::string& prefix, const value_table& members,
                  draft& to, const taker& take) {
    for (const member& each : members) {
        const std::string name = prefix + each.name;
        const std::string full_name = std::string(section) + '.' + name;
        if (const key* row = find_key(full_name)) {
            take(*row, each.held);
        } else if (!is_group(section, name)) {
            to.add(unknown_key(section, name, each.held.where));
        } else if (const auto* group = std::get_if<value_table>(&each.held.data)) {
            take_members(section, name + '.', *group, to, take);
        } else {
            const complaint wrong =
                expected("a table", each.held, "write its keys, such as " + name + ".ca = \"...\"");
            to.add({each.held.where, full_name, wrong.what, wrong.remedy});
        }
    }
}

void take_section(const member& section, draft& to) {
    const auto* members = std::get_if<value_table>(&section.held.data);
    if (members == nullptr) {
        const complaint wrong =
            expected("a section", section.held, "write [" + section.name + "] above its keys");
        to.add({section.held.where, section.name, wrong.what, wrong.remedy});
        return;
    }
    take_members(section.name, "", *members, to,
                 [&](const key& row, const value& found) { to.take(row, found); });
}

void take_entries(const member& section, draft& to) {
    const auto* entries = std::get_if<value_list>(&section.held.data);
    const bool all_tables =
        entries != nullptr && std::all_of(entries->begin(), entries->end(), [](const value& each) {
            return std::holds_alternative<value_table>(each.data);
        });
    if (!all_tables) {
        to.add_spoilt({section.held.where, section.name, "expected a list of tables",
                       "write [[outbox]] above the keys of each table"});
        return;
    }
    for (const value& each : *entries) {
        const std::size_t entry = to.add_entry(each.where);
        take_members(section.name, "", std::get<value_table>(each.data), to,
                     [&](const key& row, const value& found) { to.take(row, found, entry); });
    }
}

}  // namespace

bool take_file(std::string_view text, draft& to) {
    const auto document = parse_document(text, to.file_name());
    if (!document) {
        to.add(document.error());
        return false;
    }
    for (const member& section : *document) {
        const bool known = std::find(section_names.begin(), section_names.end(), section.name) !=
                           section_names.end();
        if (!known) {
            const bool is_table = std::holds_alternative<value_table>(section.held.data);
            to.add(unknown_at_top(section.name, is_table, section.held.where));
        } else if (section.name == "outbox") {
            take_entries(section, to);
        } else {
            take_section(section, to);
        }
    }
    return true;
}

}  // namespace walrelay::config
