#include "wal/wal2json/wal2json_shortened.hpp"

#include <gtest/gtest.h>

namespace walrelay::wal {
namespace {

TEST(Wal2jsonShortened, LeavesShortStringsAsTheyAre) {
    const std::string json = R"({"a":"x\"y","b":[1,null,true],"c":""})";
    EXPECT_EQ(shortened(json, 100), json);
}

TEST(Wal2jsonShortened, PutsNullInPlaceOfLongOnes) {
    EXPECT_EQ(shortened(R"({"a":"123456789","b":"1"})", 8), R"({"a":null,"b":"1"})");
}

TEST(Wal2jsonShortened, FindsTheEndOfAStringThatHasQuotesAndBackslashes) {
    EXPECT_EQ(shortened(R"(["\"\"\"\"\"\"\\","b"])", 8), R"([null,"b"])");
    EXPECT_EQ(shortened(R"(["\\\\\\\\","b"])", 8), R"([null,"b"])");
}

TEST(Wal2jsonShortened, TakesATextThatEndsInAString) {
    EXPECT_EQ(shortened(R"(["123)", 8), R"(["123)");
    EXPECT_EQ(shortened(R"(["123456789)", 8), R"([null)");
    EXPECT_EQ(shortened(R"(["123456789\)", 8), R"([null)");
    EXPECT_EQ(shortened("", 8), "");
}

}  // namespace
}  // namespace walrelay::wal
