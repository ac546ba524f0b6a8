// Golden captures of a real server, decoded. When tests/data/make_captures.sh has made them anew,
// run these tests once with WALRELAY_WRITE_EXPECTED=1 and read the difference before it is
// committed.
#include "unit/wal/captures.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <random>
#include <string>
#include <vector>

namespace walrelay::testing {
namespace {

using lines = std::vector<std::string>;

std::string joined(const lines& text) {
    std::string all;
    for (const auto& line : text) {
        all += line + '\n';
    }
    return all;
}

/// Splits the bytes with pieces of the lengths that `next_length` gives.
template <class NextLength>
lines split_in_pieces(std::string_view bytes, NextLength next_length) {
    copy_data_splitter splitter;
    lines messages;
    while (!bytes.empty()) {
        const auto piece = bytes.substr(0, next_length());
        bytes.remove_prefix(piece.size());
        splitter.feed(piece);
        while (auto message = splitter.next()) {
            messages.push_back(std::move(*message));
        }
    }
    EXPECT_EQ(splitter.left_bytes(), 0U);
    return messages;
}

/// The changes as they must be with either plugin: without descriptions and updates, and without
/// transactions that hold no row, which pgoutput leaves out since PostgreSQL 15.
lines only_relayed(const lines& all) {
    lines relayed;
    for (const auto& line : all) {
        if (line == "nothing to relay") {
            continue;
        }
        if (line.starts_with("commit") && relayed.back().starts_with("begin")) {
            relayed.pop_back();
            continue;
        }
        relayed.push_back(line);
    }
    return relayed;
}

void replace_all(std::string& text, std::string_view from, std::string_view to) {
    for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
        text.replace(at, from.size(), to);
    }
}

/// What wal2json is known to lose: NaN and the infinities of numeric and float columns.
lines as_wal2json_has_it(lines pgoutput) {
    for (auto& line : pgoutput) {
        for (const auto* type : {":1700=", ":700=", ":701="}) {
            for (const auto* value : {"\"NaN\"", "\"Infinity\"", "\"-Infinity\""}) {
                replace_all(line, std::string{type} + value, std::string{type} + "null");
            }
        }
    }
    return pgoutput;
}

/// wal2json names the partition, pgoutput (with publish_via_partition_root) the root.
lines with_root_names(lines wal2json) {
    for (auto& line : wal2json) {
        replace_all(line, "insert public.parted_eu ", "insert public.parted ");
        replace_all(line, "insert public.parted_us ", "insert public.parted ");
    }
    return wal2json;
}

class Captures : public ::testing::TestWithParam<capture> {};

TEST_P(Captures, AreDecodedAsExpected) {
    const auto path = capture_path(GetParam().name, ".expected");
    const auto text = joined(lines_of(payloads_of(GetParam()), GetParam().plugin));
    if (std::getenv("WALRELAY_WRITE_EXPECTED") != nullptr) {
        std::ofstream{path, std::ios::binary} << text;
    }
    EXPECT_EQ(text, read_file(path));
}

TEST_P(Captures, AreTheSameInAnySplit) {
    constexpr std::uint32_t seed = 20'260'131;
    SCOPED_TRACE("seed " + std::to_string(seed));
    const auto bytes = read_file(capture_path(GetParam().name, ".frames"));
    const auto whole = split_capture(bytes);
    ASSERT_FALSE(whole.empty());
    EXPECT_EQ(split_in_pieces(bytes, [] { return std::size_t{1}; }), whole);
    EXPECT_EQ(split_in_pieces(bytes, [] { return std::size_t{7}; }), whole);
    std::mt19937 random{seed};
    std::uniform_int_distribution<std::size_t> length{1, 3000};
    EXPECT_EQ(split_in_pieces(bytes, [&] { return length(random); }), whole);
}

INSTANTIATE_TEST_SUITE_P(Postgresql15, Captures, ::testing::ValuesIn(captures),
                         [](const auto& each) { return std::string{each.param.name}; });

TEST(CapturesOfBothPlugins, HoldTheSameChanges) {
    const auto pgoutput = only_relayed(lines_of(payloads_of(captures[0]), captures[0].plugin));
    const auto wal2json = only_relayed(lines_of(payloads_of(captures[2]), captures[2].plugin));
    ASSERT_GT(pgoutput.size(), 50U);
    EXPECT_EQ(as_wal2json_has_it(pgoutput), with_root_names(wal2json));
}

TEST(CapturesOfBothPlugins, HaveTheKnownLossesOfWal2json) {
    const auto text = joined(lines_of(payloads_of(captures[0]), captures[0].plugin));
    EXPECT_NE(text.find(":1700=\"NaN\""), std::string::npos);
    EXPECT_NE(text.find("insert public.parted "), std::string::npos);
    const auto lossy = joined(lines_of(payloads_of(captures[2]), captures[2].plugin));
    EXPECT_EQ(lossy.find("NaN"), std::string::npos);
    EXPECT_EQ(lossy.find("insert public.parted "), std::string::npos);
}

TEST(CapturesOfEverything, HoldTheSameRowsAsTheOthers) {
    // Without publish_via_partition_root the leaf is named by both.
    EXPECT_EQ(only_relayed(lines_of(payloads_of(captures[3]), captures[3].plugin)),
              only_relayed(lines_of(payloads_of(captures[2]), captures[2].plugin)));
    EXPECT_EQ(with_root_names(only_relayed(lines_of(payloads_of(captures[1]), captures[1].plugin))),
              only_relayed(lines_of(payloads_of(captures[0]), captures[0].plugin)));
}

TEST(CopyDataSplitter, RefusesWhatIsNoCopyData) {
    EXPECT_THROW(static_cast<void>(split_capture("x")), std::runtime_error);
    EXPECT_THROW(static_cast<void>(split_capture(std::string_view{"d\0\0\0\3abc", 8})),
                 std::runtime_error);
    EXPECT_THROW(static_cast<void>(split_capture(std::string_view{"d\0\0\0\7ab", 7})),
                 std::runtime_error);
    EXPECT_EQ(split_capture(std::string_view{"d\0\0\0\6ab", 7}), lines{"ab"});
}

}  // namespace
}  // namespace walrelay::testing
