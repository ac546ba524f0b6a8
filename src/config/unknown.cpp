// Names that stand for nothing.
#include "config/unknown.hpp"

#include "config/keys.hpp"
#include "core/nearest.hpp"

namespace walrelay::config {
namespace {

/// What to do with a key that stands in the wrong place; empty if no section has one of this name.
std::string move_to_its_section(std::string_view name) {
    const auto there = std::find_if(keys().begin(), keys().end(),
                                    [&](const key& row) { return row.name == name; });
    return there == keys().end() ? "" : "move it to " + heading_of(there->section);
}

}  // namespace

problem unknown_key(std::string_view section, const std::string& name, const std::string& where) {
    std::vector<std::string> known;
    for (const key& row : keys()) {
        if (row.section == section) {
            known.emplace_back(row.name);
        }
    }
    std::string remedy = move_to_its_section(name);
    if (const auto meant = nearest(name, known); remedy.empty()) {
        remedy = meant ? "write " + *meant + ", or remove it"
                       : "remove it; the keys of " + heading_of(section) + " are " + joined(known);
    }
    return {where, std::string(section) + '.' + printable(name), "is not a known key", remedy};
}

problem unknown_at_top(const std::string& name, bool is_table, const std::string& where) {
    const std::string remedy = is_table ? "" : move_to_its_section(name);
    if (!remedy.empty()) {
        return {where, printable(name), "stands outside its section", remedy};
    }
    const auto meant = nearest(name, {section_names.begin(), section_names.end()});
    return {where, printable(name), is_table ? "is not a known section" : "is not a known key",
            meant ? "write " + heading_of(*meant) + ", or remove it"
                  : "remove it; the sections are " + joined(section_names)};
}

problem unknown_variable(const std::string& name) {
    std::vector<std::string> known;
    for (const key& row : keys()) {
        known.push_back(row.variable());
    }
    const auto meant = nearest(name, known);
    return {printable(name), "", "is not the name of a setting",
            meant ? "set " + *meant + " in its place, or unset it"
                  : "unset it; the names are WALRELAY_<SECTION>_<KEY>, see docs/configuration.md"};
}

}  // namespace walrelay::config
