// The text of a position as the header Walrelay-Position has it, and the order of positions.
#include "core/position.hpp"

#include <gtest/gtest.h>

namespace walrelay {
namespace {

constexpr position example{{7'123'456'789'012'345'678U, 3},
                           {lsn{0x16B374D848}, lsn{0x16B374D7A0}, 42}};
constexpr position of_the_first_version{example.origin, {example.at.commit, {}, 42}};

TEST(Position, IsPrintedAsTheHeaderHasIt) {
    EXPECT_EQ(to_string(example), "7123456789012345678.3.00000016B374D848.00000016B374D7A0.42");
    EXPECT_EQ(to_string(of_the_first_version), "7123456789012345678.3.00000016B374D848.42");
}

TEST(Position, IsReadBackFromItsText) {
    constexpr position largest{{~0ULL, ~0U}, {lsn{~0ULL}, lsn{~0ULL}, ~0ULL}};
    for (const auto& each : {example, of_the_first_version, position{}, largest}) {
        EXPECT_EQ(parse_position(to_string(each)), each) << to_string(each);
    }
}

TEST(Position, IsNotReadFromAnythingElse) {
    for (const auto* text : {"",
                             ".",
                             "...",
                             "1.2.3",
                             "1.2.0000000000000003",
                             "1.2.0000000000000003.",
                             "1.2.0000000000000003.4.5",
                             "1.2.0000000000000003.0000000000000004",
                             "1.2.0000000000000003.0000000000000004.",
                             "1.2.0000000000000003.000000000000004.5",
                             "1.2.0000000000000003.0000000000000000.5",
                             "1.2.0000000000000003.0000000000000004.5.6",
                             "1.2.0000000000000003.0000000000000004.05",
                             "1.2.0000000000000003.4 ",
                             " 1.2.0000000000000003.4",
                             "1.2.000000000000003.4",
                             "1.2.00000000000000003.4",
                             "1.2.000000000000000G.4",
                             "-1.2.0000000000000003.4",
                             "1.-2.0000000000000003.4",
                             "1.2.0000000000000003.-4",
                             "1..0000000000000003.4",
                             ".2.0000000000000003.4",
                             "1.4294967296.0000000000000003.4",
                             "18446744073709551616.2.0000000000000003.4",
                             "1.2.0000000000000003.18446744073709551616"}) {
        EXPECT_EQ(parse_position(text), std::nullopt) << text;
    }
}

// Where the row LSN does not begin with a digit; else a part can be one of the first version.
TEST(Position, IsNotReadFromAnyPartOfItself) {
    const auto whole = to_string(position{{12, 3}, {lsn{4}, lsn{~0ULL}, 6}});
    for (std::size_t length = 0; length < whole.size(); ++length) {
        EXPECT_EQ(parse_position(whole.substr(0, length)), std::nullopt) << length;
    }
}

TEST(CommitPosition, OrdersByCommitThenByRowThenByIndex) {
    EXPECT_LT((commit_position{lsn{1}, lsn{9}, 9}), (commit_position{lsn{2}, lsn{1}, 0}));
    EXPECT_LT((commit_position{lsn{2}, lsn{1}, 9}), (commit_position{lsn{2}, lsn{2}, 0}));
    EXPECT_LT((commit_position{lsn{2}, lsn{1}, 0}), (commit_position{lsn{2}, lsn{1}, 1}));
}

TEST(History, DiffersByClusterAndByTimeline) {
    EXPECT_EQ((history{1, 1}), (history{1, 1}));
    EXPECT_NE((history{1, 1}), (history{1, 2}));
    EXPECT_NE((history{1, 1}), (history{2, 1}));
}

}  // namespace
}  // namespace walrelay
