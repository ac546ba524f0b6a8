#include "wal/byte_reader.hpp"

#include "core/assert.hpp"
#include "wal/postgres_time.hpp"

#include <string>

namespace walrelay::wal {

bool byte_reader::read(wall_time& time, std::string_view field) {
    std::uint64_t bits = 0;
    if (!read(bits, field)) {
        return false;
    }
    const auto converted = from_postgres_time(static_cast<std::int64_t>(bits));
    if (!converted) {
        reason_ = reason::time_out_of_range;
        return false;
    }
    time = *converted;
    return true;
}

bool byte_reader::read_bytes(std::string_view& view, std::size_t count, std::string_view field) {
    if (!require(count, field)) {
        return false;
    }
    view = bytes_.substr(offset_, count);
    offset_ += count;
    return true;
}

bool byte_reader::read_string(std::string_view& view, std::string_view field) {
    field_ = field;
    field_offset_ = offset_;
    const auto end = bytes_.find('\0', offset_);
    if (end == std::string_view::npos) {
        reason_ = reason::unterminated;
        return false;
    }
    view = bytes_.substr(offset_, end - offset_);
    offset_ = end + 1;
    return true;
}

bool byte_reader::read_end() {
    field_ = "end";
    field_offset_ = offset_;
    if (left_bytes() == 0) {
        return true;
    }
    reason_ = reason::not_at_end;
    return false;
}

error byte_reader::failure() const {
    const auto left = std::to_string(bytes_.size() - field_offset_);
    switch (reason_) {
        case reason::too_short:
            return frame_error(
                errc::frame_truncated, last_place(),
                "needs " + std::to_string(needed_bytes_) + " bytes, only " + left + " are left");
        case reason::unterminated:
            return frame_error(errc::frame_truncated, last_place(), "has no terminating zero byte");
        case reason::time_out_of_range:
            return malformed("is outside the range of times");
        case reason::not_at_end:
            return malformed("should be reached, but " + left + " bytes follow");
        case reason::none:
            break;
    }
    WALRELAY_ASSERT(reason_ != reason::none);
    return malformed("was not read");
}

}  // namespace walrelay::wal
