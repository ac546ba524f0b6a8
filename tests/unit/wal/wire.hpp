// Builds the bytes of PostgreSQL's messages, field by field, for tests.
#pragma once

#include "core/lsn.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace walrelay::testing {

class wire {
public:
    wire& int8(std::uint8_t number) { return append(number, sizeof number); }
    wire& int16(std::uint16_t number) { return append(number, sizeof number); }
    wire& int32(std::uint32_t number) { return append(number, sizeof number); }
    wire& int64(std::uint64_t number) { return append(number, sizeof number); }
    wire& position(lsn number) { return int64(number.value); }
    wire& type(char letter) { return int8(static_cast<std::uint8_t>(letter)); }

    /// Characters as they are.
    wire& raw(std::string_view characters) {
        bytes_ += characters;
        return *this;
    }
    /// Characters and the zero byte that ends them.
    wire& text(std::string_view characters) { return raw(characters).int8(0); }
    /// A value of a tuple in text form.
    wire& value(std::string_view characters) {
        return type('t').int32(static_cast<std::uint32_t>(characters.size())).raw(characters);
    }

    [[nodiscard]] const std::string& bytes() const { return bytes_; }

private:
    wire& append(std::uint64_t number, std::size_t size) {
        while (size > 0) {
            bytes_ += static_cast<char>(number >> (8 * --size));
        }
        return *this;
    }

    std::string bytes_;
};

}  // namespace walrelay::testing
