// Golden captures: the CopyData messages of a replication connection as they stood on the wire
// ('d', Int32 length that includes itself, bytes). See tests/data/make_captures.sh.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace walrelay::testing {

/// Cuts a byte stream into messages, in whatever pieces it comes.
class copy_data_splitter {
public:
    void feed(std::string_view piece) { bytes_ += piece; }

    /// The next message's bytes, or nothing before it is complete. Throws std::runtime_error on
    /// bytes that are no CopyData message.
    [[nodiscard]] std::optional<std::string> next();

    /// Bytes of a message that is not complete.
    [[nodiscard]] std::size_t left_bytes() const { return bytes_.size() - begin_; }

private:
    std::string bytes_;
    std::size_t begin_ = 0;
};

/// The whole content of a file. Throws std::runtime_error if it cannot be read.
[[nodiscard]] std::string read_file(const std::filesystem::path& path);

/// All messages of a capture. Throws std::runtime_error if the file ends within one.
[[nodiscard]] std::vector<std::string> split_capture(std::string_view bytes);

}  // namespace walrelay::testing
