// A decoder that has seen rows of a table before says of any text what a new one says of it: the
// same change, or the same error.
#include "unit/wal/captures.hpp"
#include "unit/wal/mutations.hpp"
#include "wal/wal2json/wal2json_decoder.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace walrelay::wal {
namespace {

constexpr const char* begin_json =
    R"({"action":"B","timestamp":"2026-01-31 12:34:56.5+00","lsn":"0/50","nextlsn":"0/60"})";

std::string row_of(const std::string& columns) {
    return R"({"action":"I","timestamp":"2026-01-31 12:34:56.5+00","lsn":"0/40",)"
           R"("schema":"public","table":"events","columns":[)" +
           columns + "]}";
}

const std::vector<std::string>& rows() {
    static const std::vector<std::string> all = {
        row_of(R"({"name":"id","typeoid":20,"value":-17},{"name":"ok","typeoid":16,"value":true})"),
        row_of(R"({"name":"data","typeoid":3802,"value":"{\"a\": \"Zoë \\n\", \"n\": 1}"},)"
               R"({"name":"no","typeoid":25,"value":null})"),
        row_of(R"({"name":"at","typeoid":1184,"value":"2026-01-31 12:34:56.789+00"})"),
        row_of(""),
    };
    return all;
}

std::string outcome_of(decoder& of, std::string_view json) {
    const auto decoded = of.decode(json);
    if (decoded) {
        return testing::to_text(*decoded);
    }
    return "error " + std::to_string(static_cast<int>(decoded.error().code)) + ": " +
           to_string(decoded.error());
}

std::string outcome_of_a_new_decoder(std::string_view json) {
    wal2json_decoder decoder;
    EXPECT_TRUE(decoder.decode(begin_json));
    return outcome_of(decoder, json);
}

TEST(Wal2jsonWarmDecoder, SaysOfEveryMutationWhatANewOneSays) {
    for (const auto& row : rows()) {
        wal2json_decoder warm;
        ASSERT_TRUE(warm.decode(begin_json));
        testing::with_each_mutation(row, [&](const std::string& mutated) {
            // Twice: what a mutation did to the description is undone by the first.
            ASSERT_TRUE(warm.decode(row));
            ASSERT_TRUE(warm.decode(row));
            ASSERT_EQ(outcome_of(warm, mutated), outcome_of_a_new_decoder(mutated)) << mutated;
        });
    }
}

TEST(Wal2jsonWarmDecoder, SaysOfRealRowsWhatANewOneSays) {
    wal2json_decoder warm;
    std::size_t count = 0;
    for (const auto& payload : testing::payloads_of(testing::captures[2])) {
        if (payload.starts_with(R"({"action":"I")")) {
            const auto expected = outcome_of_a_new_decoder(payload);
            EXPECT_EQ(outcome_of(warm, payload), expected);
            EXPECT_EQ(outcome_of(warm, payload), expected);
            ++count;
        } else {
            ASSERT_TRUE(warm.decode(payload));
        }
    }
    EXPECT_GT(count, 30U);
}

TEST(Wal2jsonWarmDecoder, GivesARowTheDescriptionThatItsTableHas) {
    wal2json_decoder decoder;
    ASSERT_TRUE(decoder.decode(begin_json));
    const auto described = [&](const std::string& row) {
        return *std::get<row_insert>(decoder.decode(row).value()).table;
    };
    const auto one = row_of(R"({"name":"a","typeoid":25,"value":"1"})");
    const auto two = row_of(R"({"name":"a","typeoid":25,"value":"1"},)"
                            R"({"name":"b","typeoid":23,"value":2})");
    const auto first = described(one);
    EXPECT_EQ(described(one).revision, first.revision);
    const auto second = described(two);
    EXPECT_EQ(second.columns.size(), 2U);
    EXPECT_GT(second.revision, first.revision);
    EXPECT_EQ(described(two).revision, second.revision);
    const auto third = described(one);
    EXPECT_EQ(third.columns, first.columns);
    EXPECT_GT(third.revision, second.revision);
}

TEST(Wal2jsonWarmDecoder, TakesAKnownRowOnlyInsideATransaction) {
    wal2json_decoder warm;
    ASSERT_TRUE(warm.decode(begin_json));
    ASSERT_TRUE(warm.decode(rows()[0]));
    ASSERT_TRUE(warm.decode(rows()[0]));
    ASSERT_TRUE(warm.decode(R"({"action":"C","lsn":"0/50","nextlsn":"0/60"})"));
    wal2json_decoder fresh;
    EXPECT_EQ(outcome_of(warm, rows()[0]), outcome_of(fresh, rows()[0]));
    EXPECT_EQ(warm.decode(rows()[0]).error().code, errc::frame_unexpected);
}

}  // namespace
}  // namespace walrelay::wal
