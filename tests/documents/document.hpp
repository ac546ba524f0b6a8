// The code blocks of a Markdown document, each with what is to become of it: it is run, as it
// stands there, or it says why not.
//
// A comment right before a block is a word to the test, which readers do not see:
//
//     <!-- not run: takes half an hour -->     nothing is done with the block
//     <!-- if: SELECT ... -->                  it is run where this query has a row
//     <!-- ends with 1 -->                     the commands of the block end with this exit code
//     <!-- before the next block:              commands that stand for what the reader has done
//     psql -d app -f sql/outbox.sql
//     -->
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

namespace walrelay::test {

struct document_block {
    /// Where the block begins, the first line being 1.
    std::size_t line = 0;
    /// As the fence says: sh, sql, toml, text, ...; empty where it says nothing, "setup" for the
    /// commands of a comment.
    std::string language;
    std::string text;
    /// Why it is not run; empty: it is.
    std::string not_run;
    /// Empty: always.
    std::string only_if;
    int ends_with = 0;
};

struct document {
    std::vector<document_block> blocks;
    /// Lines of blocks that are indented and not fenced, so that nothing says what they are.
    std::vector<std::size_t> unfenced;
};

/// `text` is that of the document.
[[nodiscard]] document read_document(const std::string& text);

/// A line of output without what is another one at each run: ids, numbers, times, runs of blanks.
[[nodiscard]] std::string without_chance(const std::string& line);

/// The first line of `wanted` that `output` does not have in this order, both without chance; empty
/// if it has all of them. A line "..." stands for any.
[[nodiscard]] std::string first_missing_line(const std::string& wanted, const std::string& output);

}  // namespace walrelay::test
