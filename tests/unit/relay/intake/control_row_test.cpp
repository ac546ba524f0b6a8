#include "relay/intake/control_row.hpp"

#include <gtest/gtest.h>

#include <map>

namespace walrelay::relay {
namespace {

constexpr type_oid text = 25;

/// What `walrelay dead-letter retry` writes.
std::map<std::string, std::string> retry_of(const std::string& event) {
    return {{"kind", "retry"},
            {"slot", "s"},
            {"dead_letter", "7"},
            {"retry", "1"},
            {"source_schema", "odd.s"},
            {"source_table", "o\"t"},
            {"event", event}};
}

/// Keeps what the views of a row point into.
class given_row {
public:
    explicit given_row(const std::map<std::string, std::string>& values) : values_(values) {
        for (const auto& [name, value] : values_) {
            table_.columns.push_back({name, text});
            fields_.emplace_back(value);
        }
    }
    [[nodiscard]] control_row read() const { return read_control({&table_, fields_}); }

private:
    std::map<std::string, std::string> values_;
    relation table_{"walrelay", "control", {}, 1};
    std::vector<field> fields_;
};

TEST(ControlRow, IsReadByTheNamesOfItsColumns) {
    const given_row given({{"kind", "own"}, {"more", "x"}});
    const auto row = given.read();
    EXPECT_EQ(row.kind, "own");
    EXPECT_EQ(row.slot, std::nullopt);
}

TEST(RetryRequest, GivesTheRowBack) {
    const given_row given(
        retry_of(R"([{"name":"id","type":2950,"value":"x"},{"name":"n","type":25,"value":null},)"
                 R"({"name":"t","type":25,"value":"a\u00e9\n"}])"));
    auto parsed = retry_request::parse(given.read(), 42);
    ASSERT_TRUE(parsed) << parsed.error().what;
    // The views must follow the object.
    const retry_request request = std::move(*parsed);
    EXPECT_EQ(request.table(), (table_name{"odd.s", "o\"t"}));
    EXPECT_EQ(request.occasion(), "retry-7-1");
    const auto row = request.row();
    EXPECT_EQ(row.table->revision, 42U);
    EXPECT_EQ(row.table->columns.at(0), (column{"id", 2950}));
    ASSERT_EQ(row.fields.size(), 3U);
    EXPECT_EQ(row.fields[0], "x");
    EXPECT_EQ(row.fields[1], std::nullopt);
    EXPECT_EQ(row.fields[2], "a\u00e9\n");
}

TEST(RetryRequest, RefusesEventsOfAnotherForm) {
    for (const auto* const event : {"", "{", "{}", "null", R"([7])", R"([{"name":"a"}])",
                                    R"([{"name":"a","type":-1,"value":"x"}])",
                                    R"([{"name":"a","type":99999999999,"value":"x"}])",
                                    R"([{"name":"a","type":25,"value":7}])"}) {
        const given_row given(retry_of(event));
        const auto parsed = retry_request::parse(given.read(), 1);
        ASSERT_FALSE(parsed) << event;
        EXPECT_EQ(parsed.error().code, errc::row_unmappable);
    }
}

TEST(RetryRequest, RefusesWhatWouldNotBeANumberInTheMessageId) {
    for (const auto* const column : {"dead_letter", "retry"}) {
        for (const auto* const number :
             {"", "-1", "+1", " 1", "1 ", "x", "1\r\nNats-Rollup: all", "99999999999999999999"}) {
            auto values = retry_of("[]");
            values[column] = number;
            const given_row given(values);
            EXPECT_FALSE(retry_request::parse(given.read(), 1)) << column << " " << number;
        }
    }
}

TEST(RetryRequest, RefusesRowsThatLackSomething) {
    for (const auto* const column :
         {"dead_letter", "retry", "source_schema", "source_table", "event"}) {
        auto values = retry_of("[]");
        values.erase(column);
        const given_row given(values);
        EXPECT_FALSE(retry_request::parse(given.read(), 1)) << column;
    }
}

}  // namespace
}  // namespace walrelay::relay
