// The blocks of docs/migrating.md, step by step, so that what a test does is what the guide says.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace walrelay::test {

struct guide_block {
    /// sh, sql or toml.
    std::string language;
    /// Line by line, without the indentation of the block.
    std::vector<std::string> lines;

    [[nodiscard]] std::string text() const;
};

struct guide_step {
    std::vector<guide_block> forth;
    /// Those after "*Back:*".
    std::vector<guide_block> back;
};

/// The numbered steps, the first at 0. Throws std::runtime_error if the file cannot be read.
[[nodiscard]] std::vector<guide_step> read_guide(const std::filesystem::path& file);

}  // namespace walrelay::test
