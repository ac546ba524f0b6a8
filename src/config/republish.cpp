// The republish rule of an [[outbox]] entry.
#include "config/key_makers.hpp"
#include "config/outbox_tables.hpp"

#include <algorithm>

namespace walrelay::config {
namespace {

constexpr std::string_view example = R"({ column = "status", value = "pending" })";

complaint written_like(std::string what) {
    return {std::move(what), "write it like " + std::string(example)};
}

void take_member(const key_description& about, const member& each, republish_rule& to,
                 std::vector<problem>& problems) {
    std::string* const at = each.name == "column"  ? &to.column
                            : each.name == "value" ? &to.value
                                                   : nullptr;
    const auto text = read_text(each.held);
    if (at == nullptr) {
        problems.push_back(problem_of(about, each.held,
                                      written_like(in_quotes(each.name) + " is no member of it")));
    } else if (!text) {
        problems.push_back(problem_of(about, each.held, text.error()));
    } else {
        *at = *text;
    }
}

bool has(const value_table& table, std::string_view name) {
    return std::any_of(table.begin(), table.end(),
                       [&](const member& each) { return each.name == name; });
}

}  // namespace

std::vector<problem> store_republish(const key_description& about, const value& found,
                                     std::optional<republish_rule>& to) {
    const auto* table = std::get_if<value_table>(&found.data);
    if (table == nullptr) {
        const complaint wrong = expected("a table of strings", found, "");
        return {problem_of(about, found, written_like(wrong.what))};
    }
    std::vector<problem> problems;
    republish_rule rule;
    for (const member& each : *table) {
        take_member(about, each, rule, problems);
    }
    for (const std::string_view name : {"column", "value"}) {
        if (!has(*table, name)) {
            problems.push_back(
                problem_of(about, found, written_like("has no " + std::string(name))));
        }
    }
    if (problems.empty() && rule.column.empty()) {
        problems.push_back(problem_of(about, found, written_like("names no column")));
    }
    if (problems.empty()) {
        to = std::move(rule);
    }
    return problems;
}

}  // namespace walrelay::config
