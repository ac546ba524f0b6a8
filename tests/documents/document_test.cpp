// Reading of documents, without running anything of them.
#include "documents/document.hpp"

#include <gtest/gtest.h>

namespace walrelay::test {
namespace {

TEST(Document, FindsBlocksWithTheirLanguageAndPlace) {
    const auto read = read_document("One:\n\n```sh\nls\n  -l\n```\ntext\n```sql\nSELECT 1;\n```\n");
    ASSERT_EQ(read.blocks.size(), 2U);
    EXPECT_EQ(read.blocks[0].language, "sh");
    EXPECT_EQ(read.blocks[0].line, 3U);
    EXPECT_EQ(read.blocks[0].text, "ls\n  -l\n");
    EXPECT_EQ(read.blocks[1].text, "SELECT 1;\n");
    EXPECT_TRUE(read.unfenced.empty());
}

TEST(Document, TakesTheIndentationOfAListAway) {
    const auto read = read_document("1. Do:\n\n   ```sh\n   ls\n   ```\n");
    ASSERT_EQ(read.blocks.size(), 1U);
    EXPECT_EQ(read.blocks[0].text, "ls\n");
}

TEST(Document, KeepsWhyABlockIsNotRunForThatBlockAlone) {
    const auto read =
        read_document("<!-- not run: takes an hour -->\n```sh\na\n```\n\n```sh\nb\n```\n");
    ASSERT_EQ(read.blocks.size(), 2U);
    EXPECT_EQ(read.blocks[0].not_run, "takes an hour ");
    EXPECT_EQ(read.blocks[1].not_run, "");
}

TEST(Document, KnowsWhereABlockIsRunAlone) {
    const auto read = read_document("<!-- if: SELECT 1 -->\n```sql\na\n```\n```sql\nb\n```\n");
    ASSERT_EQ(read.blocks.size(), 2U);
    EXPECT_EQ(read.blocks[0].only_if, "SELECT 1 ");
    EXPECT_EQ(read.blocks[1].only_if, "");
}

TEST(Document, KnowsTheExitCodeThatABlockEndsWith) {
    const auto read = read_document("<!-- ends with 3 -->\n```sh\nwalrelay run\n```\n");
    ASSERT_EQ(read.blocks.size(), 1U);
    EXPECT_EQ(read.blocks[0].ends_with, 3);
}

TEST(Document, TakesCommandsOutOfAComment) {
    const auto read = read_document("Then\n<!-- before the next block:\npsql -f a\n-->\n");
    ASSERT_EQ(read.blocks.size(), 1U);
    EXPECT_EQ(read.blocks[0].language, "setup");
    EXPECT_EQ(read.blocks[0].text, "psql -f a\n");
}

TEST(Document, NamesIndentedBlocks) {
    EXPECT_EQ(read_document("Run\n\n    ls\n\nor\n").unfenced, std::vector<std::size_t>{3});
    EXPECT_TRUE(read_document("- a point\n\n    that goes on\n").unfenced.empty());
    EXPECT_EQ(read_document("- a point\n\n        ls\n").unfenced, std::vector<std::size_t>{3});
}

TEST(Document, ComparesOutputWithoutWhatIsAnotherOneAtEachRun) {
    const std::string wanted =
        "sent 12 rows in 3.5 s\n...\nid 70c6a7f2-bd7b-4dfc-8500-bc20e772fa52\n";
    EXPECT_EQ(first_missing_line(wanted,
                                 "hello\nsent  7 rows in 0.1 s\nmore\n  id "
                                 "11c6a7f2-bd7b-4dfc-8500-bc20e772fa53\n"),
              "");
    EXPECT_EQ(first_missing_line("first\nsecond\n", "second\nfirst\n"), "second");
    EXPECT_EQ(first_missing_line("at 0/16B3748\n", "at 1F/AA\n"), "");
    EXPECT_EQ(first_missing_line("streaming\n", "halted\n"), "streaming");
}

}  // namespace
}  // namespace walrelay::test
