// The text form of an LSN, both ways.
#include "core/lsn.hpp"

#include <gtest/gtest.h>

namespace walrelay {
namespace {

TEST(Lsn, IsPrintedAsPostgresqlPrintsIt) {
    EXPECT_EQ(to_string(lsn{0x16B374D848}), "16/B374D848");
    EXPECT_EQ(to_string(lsn{0x1000000}), "0/1000000");
    EXPECT_EQ(to_string(lsn{0}), "0/0");
    EXPECT_EQ(to_string(lsn{0xFFFFFFFFFFFFFFFF}), "FFFFFFFF/FFFFFFFF");
}

TEST(Lsn, IsReadBackFromItsText) {
    for (const auto value : {0ULL, 1ULL, 0xFFFFFFFFULL, 0x100000000ULL, 0x16B374D848ULL, ~0ULL}) {
        EXPECT_EQ(parse_lsn(to_string(lsn{value})), lsn{value});
    }
}

TEST(Lsn, IsReadInEitherCase) {
    EXPECT_EQ(parse_lsn("ab/cDeF"), lsn{0xAB0000CDEF});
}

TEST(Lsn, IsNotReadFromAnythingElse) {
    for (const auto* text : {"", "/", "1", "1/", "/1", "1/2/3", " 1/2", "1/2 ", "1/-2", "+1/2",
                             "0x1/2", "G/1", "1/100000000", "100000000/1", "1.2"}) {
        EXPECT_EQ(parse_lsn(text), std::nullopt) << text;
    }
}

TEST(Lsn, IsOrderedAsANumber) {
    EXPECT_LT(*parse_lsn("0/FFFFFFFF"), *parse_lsn("1/0"));
    EXPECT_LT(*parse_lsn("9/0"), *parse_lsn("10/0"));
}

}  // namespace
}  // namespace walrelay
