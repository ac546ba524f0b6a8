// The reader that compares bytes, beside the parser of any JSON: what the first takes the second
// takes too, and finds the same.
#include "wal/wal2json/wal2json_exact_reader.hpp"

#include "unit/wal/captures.hpp"
#include "unit/wal/mutations.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace walrelay::wal {
namespace {

constexpr const char* row_json =
    R"({"action":"I","timestamp":"2026-01-31 12:34:56.5+00","lsn":"0/40","schema":"public",)"
    R"("table":"events","columns":[{"name":"id","typeoid":20,"value":-17},)"
    R"({"name":"kind","typeoid":25,"value":"a kind of it"},)"
    R"({"name":"data","typeoid":3802,"value":"{\"name\": \"Zoë \\n\", \"n\": 1.5e3}"},)"
    R"({"name":"ok","typeoid":16,"value":true},{"name":"no","typeoid":25,"value":null}]})";
constexpr const char* commit_json =
    R"({"action":"C","timestamp":"2026-01-31 12:34:56.5+00","lsn":"0/50","nextlsn":"0/60"})";

/// Both ways to read, side by side.
class Wal2jsonExactReader : public ::testing::Test {
protected:
    /// As the decoder does with a row that the exact reader does not know.
    void learn(std::string_view json) {
        const auto& object = *parser_.parse(json).value();
        auto& table = tables_.describe(object.schema->text, object.table->text, object.columns);
        table.text = wal2json_row_template{table.description};
    }

    /// Whether it was taken; then the parser must agree.
    bool takes_row(std::string_view json) {
        const auto* const table = exact_.read_row(json, tables_);
        if (table != nullptr) {
            expect_same_row(*table, json);
        }
        return table != nullptr;
    }

    bool takes_edge(std::string_view json) {
        const auto* const edge = exact_.read_edge(json);
        if (edge != nullptr) {
            expect_same_edge(*edge, json);
        }
        return edge != nullptr;
    }

    wal2json_exact_reader exact_;
    wal2json_relations tables_;
    wal2json_parser parser_;

private:
    void expect_same_row(const relation& table, std::string_view json) {
        const auto parsed = parser_.parse(json);
        ASSERT_TRUE(parsed) << json << '\n' << to_string(parsed.error());
        const auto& object = **parsed;
        EXPECT_EQ(object.action->text, "I");
        EXPECT_EQ(object.schema->text, table.schema);
        EXPECT_EQ(object.table->text, table.name);
        EXPECT_TRUE(std::ranges::equal(object.columns, table.columns, [](auto& one, auto& other) {
            return one.name == other.name && one.type == other.type;
        })) << json;
        EXPECT_TRUE(std::ranges::equal(object.fields, exact_.fields())) << json;
    }

    void expect_same_edge(const wal2json_object& edge, std::string_view json) {
        const auto parsed = parser_.parse(json);
        ASSERT_TRUE(parsed) << json << '\n' << to_string(parsed.error());
        for (const auto member : {&wal2json_object::action, &wal2json_object::timestamp,
                                  &wal2json_object::commit, &wal2json_object::end}) {
            ASSERT_TRUE((**parsed).*member) << json;
            EXPECT_EQ((edge.*member)->text, ((**parsed).*member)->text) << json;
            EXPECT_EQ((edge.*member)->offset_bytes, ((**parsed).*member)->offset_bytes) << json;
        }
        EXPECT_EQ(edge.xid, (**parsed).xid) << json;
    }
};

std::string replaced(std::string text, std::string_view from, std::string_view to) {
    return text.replace(text.find(from), from.size(), to);
}

TEST_F(Wal2jsonExactReader, TakesARowOnlyOnceItsTableIsKnown) {
    EXPECT_FALSE(takes_row(row_json));
    learn(row_json);
    EXPECT_TRUE(takes_row(row_json));
    EXPECT_TRUE(takes_row(replaced(row_json, "-17", "123456789")));
    EXPECT_TRUE(takes_row(replaced(row_json, "true", "null")));
    EXPECT_FALSE(takes_row(replaced(row_json, R"("typeoid":20)", R"("typeoid":23)")));
    EXPECT_FALSE(takes_row(replaced(row_json, "events", "others")));
}

TEST_F(Wal2jsonExactReader, TakesRowsAndEdgesWithATransactionId) {
    const auto row = replaced(row_json, R"("I")", R"("I","xid":734)");
    EXPECT_FALSE(takes_row(row));
    learn(row);
    EXPECT_TRUE(takes_row(row));
    EXPECT_TRUE(takes_row(row_json));
    for (const std::string good : {"0", "734", "4294967295"}) {
        EXPECT_TRUE(takes_edge(replaced(commit_json, R"("C")", R"("B","xid":)" + good))) << good;
    }
    EXPECT_EQ(exact_.read_edge(replaced(commit_json, R"("C")", R"("B","xid":734)"))->xid, 734);
    EXPECT_EQ(exact_.read_edge(commit_json)->xid, std::nullopt) << "that of the last one";
    for (const std::string bad : {"", "-1", "07", "4294967296", "1.0", "1e3", "\"1\"", "x"}) {
        EXPECT_FALSE(takes_edge(replaced(commit_json, R"("C")", R"("B","xid":)" + bad))) << bad;
        EXPECT_FALSE(takes_row(replaced(row_json, R"("I")", R"("I","xid":)" + bad))) << bad;
    }
}

TEST_F(Wal2jsonExactReader, TakesRowsOfSeveralTablesInTurn) {
    const auto other = replaced(row_json, "events", "others");
    const auto narrow = R"({"action":"I","timestamp":"t","lsn":"0/1","schema":"public",)"
                        R"("table":"narrow","columns":[{"name":"id","typeoid":20,"value":1}]})";
    for (const std::string_view json :
         {std::string_view{row_json}, std::string_view{other}, std::string_view{narrow}}) {
        learn(json);
    }
    for (int turn = 0; turn < 2; ++turn) {
        EXPECT_TRUE(takes_row(row_json));
        EXPECT_TRUE(takes_row(other));
        EXPECT_TRUE(takes_row(narrow));
    }
}

TEST_F(Wal2jsonExactReader, TakesNoRowThatTheParserWouldRefuseOrReadOtherwise) {
    learn(row_json);
    std::size_t taken = 0;
    testing::with_each_mutation(
        row_json, [&](const std::string& json) { taken += takes_row(json) ? 1U : 0U; });
    EXPECT_GT(taken, 1000U) << "a changed byte within a value is still a value";
}

TEST_F(Wal2jsonExactReader, TakesNoEdgeThatTheParserWouldRefuseOrReadOtherwise) {
    EXPECT_TRUE(takes_edge(commit_json));
    const auto begin_json = replaced(commit_json, R"("C")", R"("B","xid":734)");
    EXPECT_TRUE(takes_edge(replaced(commit_json, R"("C")", R"("B")")));
    EXPECT_FALSE(takes_edge(replaced(commit_json, R"("C")", R"("D")")));
    EXPECT_FALSE(takes_edge(row_json));
    std::size_t taken = 0;
    for (const std::string& whole : {std::string(commit_json), begin_json}) {
        testing::with_each_mutation(
            whole, [&](const std::string& json) { taken += takes_edge(json) ? 1U : 0U; });
    }
    EXPECT_GT(taken, 400U) << "a changed byte within a value is still a value";
}

TEST_F(Wal2jsonExactReader, TakesRowsOfAnySizeOneAfterTheOther) {
    learn(row_json);
    for (const std::size_t size :
         {0U, 1U, 4'000U, 5'000U, 100'000U, 1U, 3'000'000U, 2'000'000U, 10U, 1'048'576U, 64U}) {
        EXPECT_TRUE(takes_row(replaced(row_json, "a kind of it", std::string(size, 'v')))) << size;
    }
}

/// What a real server wrote: only what no row of the usual kind has is left to the parser.
TEST_F(Wal2jsonExactReader, TakesNearlyEverythingThatARealServerSent) {
    std::size_t edges = 0;
    std::size_t rows = 0;
    for (const auto& json : testing::payloads_of(testing::captures[2])) {
        const bool is_row = json.starts_with(R"({"action":"I")");
        if (!is_row) {
            const bool is_message = json.starts_with(R"({"action":"M")");
            EXPECT_EQ(takes_edge(json), !is_message) << json;
            edges += is_message ? 0 : 1;
            continue;
        }
        learn(json);
        const bool has_odd_name = json.find("Odd ") != std::string::npos;
        const bool has_control_character = json.find(R"(:"\u00)") != std::string::npos;
        EXPECT_EQ(takes_row(json), !has_odd_name && !has_control_character) << json.substr(0, 400);
        ++rows;
    }
    EXPECT_GT(edges, 50U);
    EXPECT_GT(rows, 30U);
}

}  // namespace
}  // namespace walrelay::wal
