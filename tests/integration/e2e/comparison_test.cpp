// The comparison that all end-to-end tests end with must itself see every kind of fault.
#include "integration/e2e/relay_bench.hpp"

namespace walrelay::test {
namespace {

std::string position(const std::string& commit, int ordinal) {
    return "7000000000000000001.1." + commit + "." + std::to_string(ordinal);
}

const std::string first_commit = "00000000000000A0";
const std::string second_commit = "00000000000000B0";

/// Three rows of two transactions, as they should be.
std::vector<seen_event> good_stream() {
    return {{1, "a", position(first_commit, 0)},
            {2, "b", position(first_commit, 1)},
            {3, "c", position(second_commit, 0)}};
}

const std::vector<std::string> committed = {"a", "b", "c"};

TEST(Comparison, FindsNothingInAGoodStream) {
    EXPECT_TRUE(exactly_once_in_order(committed, good_stream()));
    EXPECT_TRUE(exactly_once_in_order({}, {}));
}

TEST(Comparison, FindsAMissingRow) {
    auto stream = good_stream();
    stream.pop_back();
    EXPECT_EQ(compare(committed, stream).missing, std::vector<std::string>{"c"});
    EXPECT_FALSE(exactly_once_in_order(committed, stream));
}

TEST(Comparison, FindsARowThatIsThereTwice) {
    auto stream = good_stream();
    stream.push_back({4, "a", position("00000000000000C0", 0)});
    EXPECT_EQ(compare(committed, stream).twice, std::vector<std::string>{"a"});
    EXPECT_FALSE(exactly_once_in_order(committed, stream));
}

TEST(Comparison, FindsARowThatWasNeverCommitted) {
    auto stream = good_stream();
    stream.push_back({4, "x", position("00000000000000C0", 0)});
    EXPECT_EQ(compare(committed, stream).unexpected, std::vector<std::string>{"x"});
    EXPECT_FALSE(exactly_once_in_order(committed, stream));
}

TEST(Comparison, FindsRowsInTheWrongOrder) {
    auto stream = good_stream();
    std::swap(stream[0].id, stream[1].id);
    EXPECT_EQ(compare(committed, stream).out_of_order, std::vector<std::string>{"a"});
    EXPECT_FALSE(exactly_once_in_order(committed, stream));
}

TEST(Comparison, FindsPositionsThatGoBack) {
    auto stream = good_stream();
    stream[2].position = position("0000000000000001", 0);
    EXPECT_EQ(compare(committed, stream).out_of_order.size(), 1U);
}

TEST(Comparison, FindsAHoleInTheOrdinals) {
    auto stream = good_stream();
    stream[1].position = position(first_commit, 2);
    EXPECT_EQ(compare(committed, stream).out_of_order.size(), 1U);
    stream = good_stream();
    stream[2].position = position(second_commit, 1);
    EXPECT_EQ(compare(committed, stream).out_of_order.size(), 1U);
}

TEST(Comparison, FindsMalformedPositions) {
    for (const std::string text :
         {"", "1.1.B0.0", "7.1.00000000000000b0.0", "7.1.00000000000000B0", "7.1.00000000000000B0.",
          "7..00000000000000B0.0", "7.1.00000000000000B0.x", "7.1.00000000000000B0.0.0"}) {
        auto stream = good_stream();
        stream[2].position = text;
        EXPECT_EQ(compare(committed, stream).out_of_order.size(), 1U) << text;
    }
}

TEST(Comparison, SaysWhatIsWrong) {
    const auto text = to_string(compare(committed, {{1, "x", position(first_commit, 0)}}));
    EXPECT_NE(text.find("3 missing\n    a\n    b\n    c\n"), std::string::npos) << text;
    EXPECT_NE(text.find("1 unexpected\n    x\n"), std::string::npos) << text;
}

}  // namespace
}  // namespace walrelay::test
