// A test that runs for a system of examples/ and a plugin, each pair with a bench of its own.
#pragma once

#include "systems/system_bench.hpp"
#include "systems/system_facts.hpp"

#include <tuple>

namespace walrelay::test {

using system_and_plugin = std::tuple<const char*, const char*>;

class system_test : public testing::TestWithParam<system_and_plugin> {
protected:
    [[nodiscard]] const system_facts& facts() const { return facts_; }

    /// The message ids of the rows that satisfy a condition, sorted.
    [[nodiscard]] std::vector<std::string> row_ids(const std::string& condition = "true") const {
        return bench.column_of("SELECT " + facts_.message_id + " FROM " + facts_.table + " WHERE " +
                               condition + " ORDER BY 1");
    }

    /// How many rows are in this state, as SQL.
    [[nodiscard]] std::string count_of(const std::string& state) const {
        return "SELECT count(*) FROM " + facts_.table + " WHERE " + facts_.state + " = '" + state +
               "'";
    }

    /// `UPDATE` of the row with that message id.
    void update(const std::string& id, const std::string& set_list) const {
        bench.execute("UPDATE " + facts_.table + " SET " + set_list + " WHERE " +
                      facts_.message_id + " = " + as_literal(id));
    }

    /// The state of the row with that message id, as SQL.
    [[nodiscard]] std::string state_of(const std::string& id) const {
        return "SELECT " + facts_.state + " FROM " + facts_.table + " WHERE " + facts_.message_id +
               " = " + as_literal(id);
    }

    const system_facts& facts_ = facts_of(std::get<0>(GetParam()));
    system_bench bench{std::get<0>(GetParam()), std::get<1>(GetParam())};
};

[[nodiscard]] inline auto all_systems_with_both_plugins() {
    return testing::Combine(testing::Values("events", "clinic", "memo", "bento", "wallet"),
                            both_plugins());
}
[[nodiscard]] inline std::string system_name(
    const testing::TestParamInfo<system_and_plugin>& info) {
    return std::string(std::get<0>(info.param)) + "_" + std::get<1>(info.param);
}

}  // namespace walrelay::test
