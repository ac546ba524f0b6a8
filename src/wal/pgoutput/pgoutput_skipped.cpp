#include "wal/pgoutput/pgoutput_skipped.hpp"

#include <string_view>

namespace walrelay::wal {
namespace {

/// A tuple of a table that need not be known.
result<void> read_tuple(byte_reader& in) {
    std::uint16_t count = 0;
    if (!in.read(count, "number of columns")) {
        return in.failure();
    }
    for (; count > 0; --count) {
        std::uint8_t kind = 0;
        std::uint32_t length = 0;
        std::string_view value;
        if (!in.read(kind, "kind of value")) {
            return in.failure();
        }
        if (kind == 'n' || kind == 'u') {
            continue;
        }
        if (kind != 't' && kind != 'b') {
            return in.malformed("is none of n, u, t, b");
        }
        if (!in.read(length, "length of value") || !in.read_bytes(value, length, "value")) {
            return in.failure();
        }
    }
    return {};
}

result<void> read_update(byte_reader& in) {
    in.name("pgoutput Update message");
    std::uint32_t oid = 0;
    std::uint8_t kind = 0;
    if (!in.read(oid, "relation oid") || !in.read(kind, "kind of tuple")) {
        return in.failure();
    }
    if (kind == 'K' || kind == 'O') {
        if (const auto old_row = read_tuple(in); !old_row) {
            return old_row;
        }
        if (!in.read(kind, "kind of tuple")) {
            return in.failure();
        }
    }
    if (kind != 'N') {
        return in.malformed("is not N");
    }
    return read_tuple(in);
}

result<void> read_delete(byte_reader& in) {
    in.name("pgoutput Delete message");
    std::uint32_t oid = 0;
    std::uint8_t kind = 0;
    if (!in.read(oid, "relation oid") || !in.read(kind, "kind of tuple")) {
        return in.failure();
    }
    if (kind != 'K' && kind != 'O') {
        return in.malformed("is neither K nor O");
    }
    return read_tuple(in);
}

result<void> read_truncate(byte_reader& in) {
    in.name("pgoutput Truncate message");
    constexpr std::uint8_t all_options = 1 | 2;
    std::uint32_t count = 0;
    std::uint8_t options = 0;
    if (!in.read(count, "number of relations") || !in.read(options, "options")) {
        return in.failure();
    }
    if (options > all_options) {
        return in.malformed("has a bit set that has no meaning");
    }
    for (; count > 0; --count) {
        std::uint32_t oid = 0;
        if (!in.read(oid, "relation oid")) {
            return in.failure();
        }
    }
    return {};
}

result<void> read_type(byte_reader& in) {
    in.name("pgoutput Type message");
    std::uint32_t oid = 0;
    std::string_view text;
    if (!in.read(oid, "type oid") || !in.read_string(text, "namespace") ||
        !in.read_string(text, "name")) {
        return in.failure();
    }
    return {};
}

result<void> read_origin(byte_reader& in) {
    in.name("pgoutput Origin message");
    lsn position;
    std::string_view name;
    if (!in.read(position, "commit LSN") || !in.read_string(name, "name")) {
        return in.failure();
    }
    return {};
}

result<void> refuse(std::uint8_t type, const byte_reader& in) {
    switch (type) {
        case 'S':
        case 'E':
        case 'c':
        case 'A':
            return frame_error(errc::frame_unexpected, in.last_place(),
                               "belongs to a streamed transaction, which walrelay does not ask for",
                               "let no proxy change the options of START_REPLICATION; walrelay "
                               "needs streaming 'off'");
        case 'b':
        case 'P':
        case 'K':
        case 'r':
        case 'p':
            return frame_error(errc::frame_unexpected, in.last_place(),
                               "belongs to two-phase commit, which walrelay does not ask for",
                               "create the slot anew without two_phase");
        default:
            return in.malformed("is no type of message of pgoutput's protocol version 1");
    }
}

}  // namespace

bool needs_transaction(std::uint8_t type) {
    return type == 'U' || type == 'D' || type == 'T' || type == 'O';
}

result<void> read_skipped(std::uint8_t type, byte_reader& in) {
    switch (type) {
        case 'U':
            return read_update(in);
        case 'D':
            return read_delete(in);
        case 'T':
            return read_truncate(in);
        case 'Y':
            return read_type(in);
        case 'O':
            return read_origin(in);
        default:
            return refuse(type, in);
    }
}

}  // namespace walrelay::wal
