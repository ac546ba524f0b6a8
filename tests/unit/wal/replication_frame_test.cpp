// The frames of streaming replication, with bytes built here.
#include "wal/replication_frame.hpp"

#include "unit/wal/wire.hpp"

#include <gtest/gtest.h>

#include <string>

namespace walrelay::wal {
namespace {

using std::chrono_literals::operator""s;
using std::chrono_literals::operator""us;
using std::chrono_literals::operator""y;
using walrelay::testing::wire;

constexpr wall_time year_2000 = std::chrono::sys_days{2000y / 1 / 1};

std::string xlog_data_bytes() {
    return wire{}.type('w').int64(0x10).int64(0x20).int64(1'000'000).raw("payload").bytes();
}

std::string keepalive_bytes() {
    return wire{}.type('k').int64(0x30).int64(2'000'000).int8(1).bytes();
}

TEST(ReplicationFrame, ReadsXlogData) {
    const auto bytes = xlog_data_bytes();
    const auto read = parse_frame(bytes);
    ASSERT_TRUE(read);
    const auto& data = std::get<xlog_data>(*read);
    EXPECT_EQ(data.start, lsn{0x10});
    EXPECT_EQ(data.end, lsn{0x20});
    EXPECT_EQ(data.sent_at, year_2000 + 1s);
    EXPECT_EQ(data.payload, "payload");
    EXPECT_EQ(data.payload.data() + data.payload.size(), bytes.data() + bytes.size());
}

TEST(ReplicationFrame, ReadsAKeepalive) {
    const auto read = parse_frame(keepalive_bytes());
    ASSERT_TRUE(read);
    const auto& alive = std::get<keepalive>(*read);
    EXPECT_EQ(alive.end, lsn{0x30});
    EXPECT_EQ(alive.sent_at, year_2000 + 2s);
    EXPECT_TRUE(alive.reply_requested);
    auto quiet = keepalive_bytes();
    quiet.back() = 0;
    EXPECT_FALSE(std::get<keepalive>(*parse_frame(quiet)).reply_requested);
}

TEST(ReplicationFrame, RefusesEveryCutOfItsHeader) {
    const auto data = xlog_data_bytes();
    for (std::size_t length = 0; length < data.size() - 7; ++length) {
        const auto read = parse_frame(std::string_view{data}.substr(0, length));
        ASSERT_FALSE(read) << length;
        EXPECT_EQ(read.error().code, errc::frame_truncated);
    }
    const auto alive = keepalive_bytes();
    for (std::size_t length = 0; length < alive.size(); ++length) {
        const auto read = parse_frame(std::string_view{alive}.substr(0, length));
        ASSERT_FALSE(read) << length;
        EXPECT_EQ(read.error().code, errc::frame_truncated);
    }
}

TEST(ReplicationFrame, RefusesBytesAfterAKeepalive) {
    const auto read = parse_frame(keepalive_bytes() + "x");
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().code, errc::frame_malformed);
    EXPECT_EQ(read.error().what,
              "keepalive frame: 'end' at byte 18 should be reached, but 1 bytes follow");
}

TEST(ReplicationFrame, RefusesAReplyRequestThatIsNeitherYesNorNo) {
    auto bytes = keepalive_bytes();
    bytes.back() = 2;
    const auto read = parse_frame(bytes);
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().code, errc::frame_malformed);
    EXPECT_EQ(read.error().what,
              "keepalive frame: 'reply requested' at byte 17 is neither 0 nor 1");
}

TEST(ReplicationFrame, RefusesAnyOtherType) {
    for (int type = 0; type < 256; ++type) {
        if (type == 'w' || type == 'k') {
            continue;
        }
        const auto read = parse_frame(std::string(40, static_cast<char>(type)));
        ASSERT_FALSE(read) << type;
        EXPECT_EQ(read.error().code, errc::frame_malformed);
    }
}

TEST(StatusUpdate, IsWrittenAsTheProtocolWantsIt) {
    const auto bytes = encode({lsn{0x0102030405060708}, lsn{2}, lsn{3}, year_2000 + 5us});
    EXPECT_EQ(
        bytes,
        wire{}.type('r').int64(0x0102030405060708).int64(2).int64(3).int64(5).int8(0).bytes());
    EXPECT_EQ(encode({lsn{1}, lsn{2}, lsn{3}, year_2000, true}).back(), '\1');
}

}  // namespace
}  // namespace walrelay::wal
