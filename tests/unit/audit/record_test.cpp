#include "audit/record.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <string>

namespace walrelay::audit {
namespace {

void expect_kept(const record& one) {
    std::string bytes;
    append_to(bytes, one);
    std::string_view rest = bytes;
    const auto taken = take_record(rest);
    ASSERT_TRUE(taken);
    EXPECT_TRUE(rest.empty());
    EXPECT_EQ(taken->kind, one.kind);
    EXPECT_EQ(taken->number, one.number);
    EXPECT_EQ(taken->group, one.group);
    EXPECT_EQ(taken->at, one.at);
    EXPECT_EQ(taken->id, one.id);
}

TEST(Record, IsReadAsItWasWritten) {
    constexpr auto most = std::numeric_limits<std::uint64_t>::max();
    expect_kept({record_kind::row, 0, 0, {}, "a"});
    expect_kept({record_kind::row, 127, 128, {}, ""});
    expect_kept({record_kind::message, most, 0xffffffff, {lsn{most}, lsn{most}, most}, "b;c"});
    expect_kept({record_kind::republication, 1, 2, {lsn{3}, {}, 4}, "d"});
    expect_kept({record_kind::dead_letter, 0, 0, {}, std::string(100'000, 'x')});
}

TEST(Record, TakesAnyBytesAsAnId) {
    std::string id;
    for (int byte = 0; byte < 256; ++byte) {
        id += static_cast<char>(byte);
    }
    expect_kept({record_kind::message, 5, 0, {lsn{6}, {}, 7}, id});
}

TEST(Record, DamagedBytesAreNone) {
    std::string bytes;
    append_to(bytes, {record_kind::message, 500, 1, {lsn{600}, {}, 700}, "abc"});
    for (std::size_t length = 0; length < bytes.size(); ++length) {
        std::string_view part(bytes.data(), length);
        EXPECT_FALSE(take_record(part)) << length;
    }
    bytes.front() = 17;
    std::string_view unknown = bytes;
    EXPECT_FALSE(take_record(unknown));
    bytes.front() = static_cast<char>(0xff);
    std::string_view negative = bytes;
    EXPECT_FALSE(take_record(negative));
}

}  // namespace
}  // namespace walrelay::audit
