#include "postgres/catalog/library_list.hpp"

#include <gtest/gtest.h>

namespace walrelay::postgres {
namespace {

TEST(LibraryList, FindsAnEntryWhateverTheBlanks) {
    EXPECT_TRUE(lists_library("wal2json", "wal2json"));
    EXPECT_TRUE(lists_library("pgoutput,test_decoding ,\twal2json ", "wal2json"));
    EXPECT_TRUE(lists_library("\"wal2json\", pgoutput", "wal2json"));
}

TEST(LibraryList, TakesAQuotedListForOneEntry) {
    EXPECT_FALSE(lists_library("\"pgoutput, test_decoding, wal2json\"", "wal2json"));
    EXPECT_FALSE(lists_library("\"pgoutput, wal2json\", test_decoding", "wal2json"));
    EXPECT_TRUE(lists_library("\"a, b\", wal2json", "wal2json"));
}

TEST(LibraryList, ComparesExactly) {
    EXPECT_FALSE(lists_library("", "wal2json"));
    EXPECT_FALSE(lists_library("*", "wal2json"));
    EXPECT_FALSE(lists_library("WAL2JSON", "wal2json"));
    EXPECT_FALSE(lists_library("$libdir/wal2json, wal2json2, awal2json", "wal2json"));
    EXPECT_FALSE(lists_library("\"wal2json", "wal2jso"));
}

TEST(LibraryList, ReadsDoubledQuotes) {
    EXPECT_TRUE(lists_library("\"a\"\"b\", c", "a\"b"));
    EXPECT_TRUE(lists_library("\"a\"\"\", c", "c"));
}

}  // namespace
}  // namespace walrelay::postgres
