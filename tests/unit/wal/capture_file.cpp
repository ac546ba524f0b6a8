#include "unit/wal/capture_file.hpp"

#include <cstdint>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace walrelay::testing {
namespace {

constexpr std::size_t length_bytes = sizeof(std::uint32_t);

std::uint32_t length_at(std::string_view bytes) {
    std::uint32_t length = 0;
    for (const char each : bytes.substr(0, length_bytes)) {
        length = (length << 8U) | static_cast<unsigned char>(each);
    }
    return length;
}

}  // namespace

std::optional<std::string> copy_data_splitter::next() {
    const auto rest = std::string_view{bytes_}.substr(begin_);
    if (rest.empty()) {
        return std::nullopt;
    }
    if (rest.front() != 'd') {
        throw std::runtime_error("no CopyData message");
    }
    if (rest.size() < 1 + length_bytes) {
        return std::nullopt;
    }
    const std::size_t length = length_at(rest.substr(1));
    if (length < length_bytes) {
        throw std::runtime_error("a CopyData message that is shorter than its own length");
    }
    if (rest.size() < 1 + length) {
        return std::nullopt;
    }
    begin_ += 1 + length;
    return std::string{rest.substr(1 + length_bytes, length - length_bytes)};
}

std::string read_file(const std::filesystem::path& path) {
    const std::ifstream file{path, std::ios::binary};
    std::ostringstream content;
    content << file.rdbuf();
    if (!file || !content) {
        throw std::runtime_error("cannot read " + path.string());
    }
    return content.str();
}

std::vector<std::string> split_capture(std::string_view bytes) {
    copy_data_splitter splitter;
    splitter.feed(bytes);
    std::vector<std::string> messages;
    while (auto message = splitter.next()) {
        messages.push_back(std::move(*message));
    }
    if (splitter.left_bytes() != 0) {
        throw std::runtime_error("the capture ends within a message");
    }
    return messages;
}

}  // namespace walrelay::testing
