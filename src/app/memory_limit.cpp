#include "app/memory_limit.hpp"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <string>
#include <string_view>

namespace walrelay::app {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t program_bytes = std::uint64_t{32} << 20U;
constexpr std::uint64_t times_held = 8;
constexpr std::uint64_t times_published = 3;
constexpr std::uint64_t always_published_bytes = std::uint64_t{8} << 20U;

std::string first_line_of(const fs::path& file) {
    std::ifstream in(file);
    std::string line;
    std::getline(in, line);
    return line;
}

/// "max" is none, and so is version 1's greatest number of pages.
std::optional<std::uint64_t> limit_in(const fs::path& file) {
    constexpr std::uint64_t none = std::uint64_t{1} << 60U;
    const auto text = first_line_of(file);
    std::uint64_t bytes = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), bytes);
    if (read.ec != std::errc() || bytes == 0 || bytes >= none) {
        return std::nullopt;
    }
    return bytes;
}

/// Of the group and of all that it is in: each of them ends what exceeds its own.
void take_lowest(const fs::path& mounted, std::string group, const char* file,
                 std::optional<std::uint64_t>& lowest) {
    for (;;) {
        if (const auto limit = limit_in(mounted / fs::path(group).relative_path() / file)) {
            lowest = std::min(lowest.value_or(*limit), *limit);
        }
        const auto end = group.find_last_of('/');
        if (group.empty() || group == "/" || end == std::string::npos) {
            return;
        }
        group.resize(end);
    }
}

bool lists(std::string_view controllers, std::string_view wanted) {
    for (std::size_t at = 0; at <= controllers.size();) {
        const auto end = std::min(controllers.find(',', at), controllers.size());
        if (controllers.substr(at, end - at) == wanted) {
            return true;
        }
        at = end + 1;
    }
    return false;
}

}  // namespace

std::optional<std::uint64_t> memory_limit(const fs::path& root) {
    std::optional<std::uint64_t> lowest;
    std::ifstream groups(root / "proc/self/cgroup");
    // <number>:<controllers>:<group>, with 0 and no controllers for version 2.
    for (std::string line; std::getline(groups, line);) {
        const auto first = line.find(':');
        const auto second = line.find(':', first + 1);
        if (first == std::string::npos || second == std::string::npos) {
            continue;
        }
        const auto controllers = std::string_view(line).substr(first + 1, second - first - 1);
        const auto group = line.substr(second + 1);
        if (controllers.empty()) {
            take_lowest(root / "sys/fs/cgroup", group, "memory.max", lowest);
        } else if (lists(controllers, "memory")) {
            take_lowest(root / "sys/fs/cgroup/memory", group, "memory.limit_in_bytes", lowest);
        }
    }
    return lowest;
}

std::uint64_t least_limit(std::uint64_t window_bytes) {
    return program_bytes + window_bytes + always_published_bytes * times_published;
}

std::uint64_t limit_for(std::uint64_t row_bytes, std::uint64_t window_bytes) {
    return program_bytes + window_bytes + row_bytes * times_held;
}

std::uint64_t largest_row_within(std::uint64_t limit, std::uint64_t window_bytes) {
    const auto taken = program_bytes + window_bytes;
    return std::max(always_published_bytes, limit > taken ? (limit - taken) / times_held : 0);
}

}  // namespace walrelay::app
