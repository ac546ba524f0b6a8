// Columns and headers of an [[outbox]] entry.
#include "config/outbox_tables.hpp"

#include "config/checks.hpp"
#include "config/key_makers.hpp"
#include "config/nearest.hpp"
#include "config/sections.hpp"

namespace walrelay::config {
namespace {

problem problem_of_member(const key_description& about, const member& of, const complaint& wrong) {
    problem found = problem_of(about, of.held, wrong);
    found.key += '.' + printable(of.name);
    return found;
}

problem no_table(const key_description& about, const value& found) {
    return problem_of(
        about, found,
        expected("a table of strings", found, "write it in braces, such as { name = \"text\" }"));
}

std::vector<std::string> role_names() {
    std::vector<std::string> names;
    for (const auto& [role, place_of_role] : column_roles()) {
        names.push_back(role);
    }
    return names;
}

complaint unknown_role(const std::string& written) {
    const auto meant = nearest(written, role_names());
    return {"is not a role of a column",
            meant ? "write " + *meant + ", or remove it"
                  : "remove it; a template may name any column without giving it a role"};
}

/// The place of a role; nullptr if there is no such role.
column_place find_role(const std::string& name) {
    for (const auto& [role, at] : column_roles()) {
        if (role == name) {
            return at;
        }
    }
    return nullptr;
}

read_result<std::string> read_column_name(const value& found) {
    auto name = read_text(found);
    if (name && name->empty()) {
        return complaint{"names no column", "write the name of the column, or remove the role"};
    }
    return name;
}

}  // namespace

const std::vector<std::pair<std::string, column_place>>& column_roles() {
    static const std::vector<std::pair<std::string, column_place>> roles{
        {"id", &outbox_columns::id},
        {"aggregate_type", &outbox_columns::aggregate_type},
        {"aggregate_id", &outbox_columns::aggregate_id},
        {"event_type", &outbox_columns::event_type},
        {"payload", &outbox_columns::payload},
        {"metadata", &outbox_columns::metadata},
        {"version", &outbox_columns::version},
        {"created_at", &outbox_columns::created_at}};
    return roles;
}

std::vector<problem> store_columns(const key_description& about, const value& found,
                                   outbox_columns& to) {
    const auto* table = std::get_if<value_table>(&found.data);
    if (table == nullptr) {
        return {no_table(about, found)};
    }
    std::vector<problem> problems;
    outbox_columns columns;
    for (const member& each : *table) {
        const column_place at = find_role(each.name);
        const auto name = read_column_name(each.held);
        if (at == nullptr) {
            problems.push_back(problem_of_member(about, each, unknown_role(each.name)));
        } else if (!name) {
            problems.push_back(problem_of_member(about, each, name.error()));
        } else {
            columns.*at = *name;
        }
    }
    if (problems.empty()) {
        to = std::move(columns);
    }
    return problems;
}

std::vector<problem> store_headers(const key_description& about, const value& found,
                                   std::vector<std::pair<std::string, std::string>>& to) {
    const auto* table = std::get_if<value_table>(&found.data);
    if (table == nullptr) {
        return {no_table(about, found)};
    }
    std::vector<problem> problems;
    std::vector<std::pair<std::string, std::string>> headers;
    for (const member& each : *table) {
        const auto text = read_text(each.held);
        if (const auto wrong = check_header_name(each.name)) {
            problems.push_back(problem_of_member(about, each, *wrong));
        } else if (!text) {
            problems.push_back(problem_of_member(about, each, text.error()));
        } else {
            headers.emplace_back(each.name, *text);
        }
    }
    if (problems.empty()) {
        to = std::move(headers);
    }
    return problems;
}

}  // namespace walrelay::config
