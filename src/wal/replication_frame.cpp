#include "wal/replication_frame.hpp"

#include "wal/byte_reader.hpp"
#include "wal/postgres_time.hpp"

#include <cstdint>

namespace walrelay::wal {
namespace {

result<frame> parse_xlog_data(byte_reader& in) {
    in.name("XLogData frame");
    xlog_data data;
    if (!in.read(data.start, "start") || !in.read(data.end, "end") ||
        !in.read(data.sent_at, "sent at") ||
        !in.read_bytes(data.payload, in.left_bytes(), "payload")) {
        return in.failure();
    }
    return frame{data};
}

result<frame> parse_keepalive(byte_reader& in) {
    in.name("keepalive frame");
    keepalive alive;
    std::uint8_t reply = 0;
    if (!in.read(alive.end, "end") || !in.read(alive.sent_at, "sent at") ||
        !in.read(reply, "reply requested")) {
        return in.failure();
    }
    if (reply > 1) {
        return in.malformed("is neither 0 nor 1");
    }
    if (!in.read_end()) {
        return in.failure();
    }
    alive.reply_requested = reply == 1;
    return frame{alive};
}

void append(std::string& bytes, std::uint64_t number) {
    constexpr unsigned byte_bits = 8;
    for (unsigned shift = sizeof number * byte_bits; shift > 0;) {
        shift -= byte_bits;
        bytes += static_cast<char>(number >> shift);
    }
}

}  // namespace

result<frame> parse_frame(std::string_view bytes) {
    byte_reader in{bytes, "replication frame"};
    std::uint8_t type = 0;
    if (!in.read(type, "type")) {
        return in.failure();
    }
    switch (type) {
        case 'w':
            return parse_xlog_data(in);
        case 'k':
            return parse_keepalive(in);
        default:
            return in.malformed("is neither 'w' (XLogData) nor 'k' (keepalive)");
    }
}

std::string encode(const status_update& status) {
    std::string bytes;
    bytes.reserve(sizeof 'r' + 4 * sizeof(std::uint64_t) + 1);
    bytes += 'r';
    append(bytes, status.written.value);
    append(bytes, status.flushed.value);
    append(bytes, status.applied.value);
    append(bytes, static_cast<std::uint64_t>(to_postgres_time(status.sent_at)));
    bytes += status.reply_requested ? '\1' : '\0';
    return bytes;
}

}  // namespace walrelay::wal
