// Values of variables and flags go into the draft.
#include "config/take_texts.hpp"

#include "config/document.hpp"
#include "config/quote.hpp"
#include "config/unknown.hpp"

#include <algorithm>

namespace walrelay::config {
namespace {

/// Source: Kubernetes documentation, "Accessing the Service": WALRELAY_SERVICE_HOST,
/// WALRELAY_PORT_8460_TCP and the like.
bool is_set_by_kubernetes(std::string_view name) {
    return name.starts_with("WALRELAY_SERVICE_") || name == "WALRELAY_PORT" ||
           name.starts_with("WALRELAY_PORT_");
}

void take_entry_text(const key& row, const value& found, draft& to) {
    const std::size_t entries = to.all().outbox.size();
    if (entries > 1) {
        to.add(
            {found.where, row.full_name(),
             "is meant for a single [[outbox]] entry, but the file has " + std::to_string(entries),
             "set it in the entry of the file that it is meant for"});
        return;
    }
    to.take(row, found, entries == 0 ? to.add_entry(found.where) : 0);
}

void take_text(const key& row, const std::string& text, const std::string& where, draft& to) {
    value found{where, plain_text{text}};
    if (row.kind == value_kind::table) {
        auto table = parse_inline_table(text, where);
        if (!table) {
            to.add({where, row.full_name(), table.error().what, table.error().remedy});
            return;
        }
        found = std::move(*table);
    }
    if (row.about.section == "outbox") {
        take_entry_text(row, found, to);
    } else {
        to.take(row, found);
    }
}

const key* key_of_variable(const std::string& name) {
    const auto found = std::find_if(keys().begin(), keys().end(),
                                    [&](const key& row) { return row.variable() == name; });
    return found == keys().end() ? nullptr : &*found;
}

std::string flag_name(const key& row) {
    return row.about.flag.empty() ? "flag " + row.full_name() : std::string(row.about.flag);
}

}  // namespace

void take_environment(const environment& variables, draft& to) {
    for (const auto& [name, text] : variables) {
        if (const key* row = key_of_variable(name)) {
            take_text(*row, text, name, to);
        } else if (!is_set_by_kubernetes(name)) {
            to.add(unknown_variable(name));
        }
    }
}

void take_flags(const flag_values& flags, draft& to) {
    for (const auto& [full_name, text] : flags) {
        if (const key* row = find_key(full_name)) {
            take_text(*row, text, flag_name(*row), to);
        } else {
            to.add({"flag " + printable(full_name), "", "stands for no key", "remove it"});
        }
    }
}

}  // namespace walrelay::config
