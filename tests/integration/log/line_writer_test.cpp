#include "log/line_writer.hpp"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <string>

namespace walrelay {
namespace {

using namespace std::chrono_literals;

std::string dropped_line(std::uint64_t lines) {
    return "(" + std::to_string(lines) + " lines dropped)\n";
}

class LineWriter : public testing::Test {
protected:
    LineWriter() { EXPECT_EQ(pipe(ends_.data()), 0); }
    ~LineWriter() override {
        close(ends_[0]);
        close(ends_[1]);
    }

    /// So that not one line more fits in; returns how many bytes it took.
    std::size_t fill() {
        const int usual = fcntl(ends_[1], F_GETFL);
        EXPECT_EQ(fcntl(ends_[1], F_SETFL, usual | O_NONBLOCK), 0);
        std::size_t bytes = 0;
        while (::write(ends_[1], "#", 1) == 1) {
            ++bytes;
        }
        EXPECT_EQ(fcntl(ends_[1], F_SETFL, usual), 0);
        return bytes;
    }

    /// Until the line, or the end.
    std::string read_until(const std::string& line) {
        std::string all;
        std::array<char, 65536> part{};
        while (all.find(line) == std::string::npos) {
            const auto got = read(ends_[0], part.data(), part.size());
            if (got <= 0) {
                break;
            }
            all.append(part.data(), static_cast<std::size_t>(got));
        }
        return all;
    }

    std::array<int, 2> ends_{};
};

TEST_F(LineWriter, WritesLinesInTheirOrder) {
    line_writer writer(ends_[1], 1000, dropped_line);
    writer.write("first\n");
    writer.write("second\n");
    EXPECT_EQ(read_until("second\n"), "first\nsecond\n");
}

TEST_F(LineWriter, CountsWhatIsDroppedWhileNobodyReads) {
    constexpr std::size_t kept_bytes = 10'000;
    constexpr int lines = 1000;
    const std::string line(999, '.');
    const auto before = fill();
    line_writer writer(ends_[1], kept_bytes, dropped_line);
    for (int count = 0; count < lines; ++count) {
        writer.write(line + "\n");
    }
    const auto all = read_until(" lines dropped)\n");
    const auto told = all.find(" lines dropped)");
    ASSERT_NE(told, std::string::npos);
    const auto digits = all.rfind('(', told) + 1;
    const auto dropped = std::stoi(all.substr(digits, told - digits));
    const auto written = static_cast<int>((digits - 1 - before) / (line.size() + 1));
    EXPECT_EQ(written + dropped, lines) << "none is missing silently";
    EXPECT_GT(dropped, lines / 2);
}

TEST_F(LineWriter, EndsAlthoughNobodyReads) {
    // The thread that is left behind must not find another test's file under this number.
    const int left_open = dup(ends_[1]);
    line_writer writer(left_open, std::size_t{1} << 20U, dropped_line);
    for (int count = 0; count < 100; ++count) {
        writer.write(std::string(4096, '.') + "\n");
    }
    writer.finish(10ms);
}

}  // namespace
}  // namespace walrelay
