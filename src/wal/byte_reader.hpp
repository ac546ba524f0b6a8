// A cursor over bytes from outside: big-endian numbers, strings, nothing read before its length is
// checked. The only place that reads raw bytes; it knows nothing of any message.
//
// A read either fills its argument and returns true, or leaves it alone, remembers why, and returns
// false; `failure` then has the words. Nothing is allocated before that.
#pragma once

#include "core/change.hpp"
#include "core/error.hpp"
#include "wal/frame_error.hpp"

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

namespace walrelay::wal {

class byte_reader {
public:
    /// Both views must outlive the reader. `subject` names what is read, for errors.
    byte_reader(std::string_view bytes, std::string_view subject)
        : bytes_{bytes}, subject_{subject} {}

    void name(std::string_view subject) { subject_ = subject; }

    template <std::unsigned_integral Number>
    [[nodiscard]] bool read(Number& number, std::string_view field);

    /// 0 is a position like any other here: an idle server sends it.
    [[nodiscard]] bool read(lsn& position, std::string_view field) {
        return read(position.value, field);
    }

    /// Microseconds since 2000-01-01.
    [[nodiscard]] bool read(wall_time& time, std::string_view field);

    /// The view is into the bytes given to the constructor, as the one of `read_string`.
    [[nodiscard]] bool read_bytes(std::string_view& view, std::size_t count,
                                  std::string_view field);

    /// Up to the next zero byte, which is read and left out.
    [[nodiscard]] bool read_string(std::string_view& view, std::string_view field);

    /// False, and a failure, if anything is left.
    [[nodiscard]] bool read_end();

    [[nodiscard]] std::size_t left_bytes() const { return bytes_.size() - offset_; }

    /// Where the last read began.
    [[nodiscard]] place last_place() const { return {subject_, field_, field_offset_}; }

    /// Why the last read returned false.
    [[nodiscard]] error failure() const;

    /// That the value of the last read is not allowed. `why` goes on from the field's name.
    [[nodiscard]] error malformed(std::string_view why) const {
        return frame_error(errc::frame_malformed, last_place(), why);
    }

private:
    enum class reason { none, too_short, unterminated, time_out_of_range, not_at_end };

    /// Whether `count` bytes are there; remembers the field and, if not, the failure.
    [[nodiscard]] bool require(std::size_t count, std::string_view field) {
        field_ = field;
        field_offset_ = offset_;
        if (count <= left_bytes()) {
            return true;
        }
        needed_bytes_ = count;
        reason_ = reason::too_short;
        return false;
    }

    std::string_view bytes_;
    std::string_view subject_;
    std::string_view field_;
    std::size_t offset_ = 0;
    std::size_t field_offset_ = 0;
    std::size_t needed_bytes_ = 0;
    reason reason_ = reason::none;
};

/// Written without a loop: compilers make one load and one swap of it.
template <std::unsigned_integral Number, std::size_t... Index>
constexpr Number big_endian(const char* bytes, std::index_sequence<Index...> /*all*/) {
    constexpr unsigned byte_bits = 8;
    return static_cast<Number>(((std::uint64_t{static_cast<unsigned char>(bytes[Index])}
                                 << (byte_bits * (sizeof(Number) - 1 - Index))) |
                                ...));
}

template <std::unsigned_integral Number>
bool byte_reader::read(Number& number, std::string_view field) {
    if (!require(sizeof(Number), field)) {
        return false;
    }
    number =
        big_endian<Number>(bytes_.data() + offset_, std::make_index_sequence<sizeof(Number)>{});
    offset_ += sizeof(Number);
    return true;
}

}  // namespace walrelay::wal
