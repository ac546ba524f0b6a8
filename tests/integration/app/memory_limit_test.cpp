#include "app/memory_limit.hpp"

#include "support/temporary_folder.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <string>

namespace walrelay::app {
namespace {

constexpr std::uint64_t mebibyte = std::uint64_t{1} << 20U;

class MemoryLimit : public testing::Test {
protected:
    void write(const std::string& file, const std::string& text) {
        const auto path = folder_.path() / file;
        std::filesystem::create_directories(path.parent_path());
        std::ofstream(path) << text;
    }
    [[nodiscard]] std::optional<std::uint64_t> limit() const {
        return memory_limit(folder_.path());
    }

private:
    test::temporary_folder folder_{"memory-limit"};
};

TEST_F(MemoryLimit, IsUnknownWhereNothingTells) {
    EXPECT_EQ(limit(), std::nullopt);
    write("proc/self/cgroup", "0::/\n");
    EXPECT_EQ(limit(), std::nullopt);
    write("sys/fs/cgroup/memory.max", "max\n");
    EXPECT_EQ(limit(), std::nullopt);
    write("sys/fs/cgroup/memory.max", "nonsense\n");
    EXPECT_EQ(limit(), std::nullopt);
}

TEST_F(MemoryLimit, IsTheContainersOwn) {
    write("proc/self/cgroup", "0::/\n");
    write("sys/fs/cgroup/memory.max", "268435456\n");
    EXPECT_EQ(limit(), 256 * mebibyte);
}

TEST_F(MemoryLimit, IsTheLowestOfAllGroupsThatItIsIn) {
    write("proc/self/cgroup", "0::/system.slice/walrelay.service\n");
    write("sys/fs/cgroup/system.slice/walrelay.service/memory.max", "536870912\n");
    EXPECT_EQ(limit(), 512 * mebibyte);
    write("sys/fs/cgroup/system.slice/memory.max", "104857600\n");
    EXPECT_EQ(limit(), 100 * mebibyte);
    write("sys/fs/cgroup/memory.max", "max\n");
    EXPECT_EQ(limit(), 100 * mebibyte);
}

TEST_F(MemoryLimit, IsReadFromTheFirstVersionAsWell) {
    write("proc/self/cgroup", "12:cpu,cpuacct:/a\n11:memory:/docker/b\n");
    write("sys/fs/cgroup/memory/docker/b/memory.limit_in_bytes", "268435456\n");
    write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
    EXPECT_EQ(limit(), 256 * mebibyte);
}

TEST(LargestRow, FitsEightTimesBesideTheWindow) {
    const auto window = 32 * mebibyte;
    EXPECT_GE(largest_row_within(640 * mebibyte, window), 64 * mebibyte)
        << "the shipped limit holds for the default of max_row_bytes";
    EXPECT_EQ(largest_row_within(limit_for(10 * mebibyte, window), window), 10 * mebibyte);
    EXPECT_EQ(largest_row_within(16 * mebibyte, window), 8 * mebibyte);
    EXPECT_EQ(least_limit(window), 88 * mebibyte) << "docs/sizing.md says so";
}

}  // namespace
}  // namespace walrelay::app
