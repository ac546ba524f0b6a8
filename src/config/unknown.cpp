// Names that stand for nothing.
#include "config/unknown.hpp"

#include "config/keys.hpp"
#include "config/nearest.hpp"
#include "config/quote.hpp"

#include <vector>

namespace walrelay::config {
namespace {

std::string bracketed(std::string_view section) {
    return section == "outbox" ? "[[outbox]]" : '[' + std::string(section) + ']';
}

std::vector<std::string> names_in(std::string_view section) {
    std::vector<std::string> names;
    for (const key& row : keys()) {
        if (row.about.section == section) {
            names.emplace_back(row.about.name);
        }
    }
    return names;
}

/// The key of another section that has exactly this name; nullptr if there is none.
const key* elsewhere(std::string_view name) {
    for (const key& row : keys()) {
        if (row.about.name == name) {
            return &row;
        }
    }
    return nullptr;
}

std::string joined(const std::vector<std::string>& names) {
    std::string list;
    for (const std::string& name : names) {
        list += (list.empty() ? "" : ", ") + name;
    }
    return list;
}

std::string belongs_to(const key& row) {
    return "move it to " + bracketed(row.about.section);
}

}  // namespace

problem unknown_key(std::string_view section, const std::string& name, const std::string& where) {
    problem found{where, std::string(section) + '.' + printable(name), "is not a known key", ""};
    const auto known = names_in(section);
    if (const key* there = elsewhere(name)) {
        found.remedy = belongs_to(*there);
    } else if (const auto meant = nearest(name, known)) {
        found.remedy = "write " + *meant + ", or remove it";
    } else {
        found.remedy = "remove it; the keys of " + bracketed(section) + " are " + joined(known);
    }
    return found;
}

problem unknown_at_top(const std::string& name, bool is_table, const std::string& where) {
    const std::vector<std::string> sections(section_names.begin(), section_names.end());
    problem found{where, printable(name),
                  is_table ? "is not a known section" : "is not a known key", ""};
    const key* there = is_table ? nullptr : elsewhere(name);
    if (there != nullptr) {
        found.what = "stands outside its section";
        found.remedy = belongs_to(*there);
    } else if (const auto meant = nearest(name, sections)) {
        found.remedy = "write " + bracketed(*meant) + ", or remove it";
    } else {
        found.remedy = "remove it; the sections are " + joined(sections);
    }
    return found;
}

problem unknown_variable(const std::string& name) {
    std::vector<std::string> known;
    for (const key& row : keys()) {
        known.push_back(row.variable());
    }
    const auto meant = nearest(name, known);
    return {printable(name), "", "stands for no key",
            meant ? "set " + *meant + " in its place, or unset it"
                  : "unset it; the names are WALRELAY_<SECTION>_<KEY>, see docs/configuration.md"};
}

}  // namespace walrelay::config
