// A cursor over a JSON text that should be, byte for byte, what wal2json writes. It takes what it
// is asked for or says no; the caller then leaves the text to simdjson, which has the words for
// errors. It must not know what stands where in a row.
//
// What it takes simdjson takes as well, and as the same values, once the whole text is UTF-8.
#pragma once

#include "core/change.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace walrelay::wal {

class wal2json_cursor {
public:
    /// `room` is memory for as many bytes as `text` has. Text and room must outlive the cursor and
    /// the views that it gives out, which are into either.
    wal2json_cursor(std::string_view text, char* room)
        : begin_{text.data()}, at_{begin_}, end_{begin_ + text.size()}, room_{room} {}

    /// Just these bytes. The cursor stays where it is if something else is there; a copy of it can
    /// try again. After any other call that returns false it must not be used.
    [[nodiscard]] bool take(std::string_view literal) {
        if (static_cast<std::size_t>(end_ - at_) < literal.size() ||
            std::memcmp(at_, literal.data(), literal.size()) != 0) {
            return false;
        }
        at_ += literal.size();
        return true;
    }

    /// A string in quotes: its text without the escapes, of which \u is refused.
    [[nodiscard]] bool take_string(std::string_view& text);

    /// A value as wal2json writes it: a string, a number, true, false or null. What stands after
    /// it is the caller's to check. See wal2json_decoder.hpp for what the field holds then.
    [[nodiscard]] bool take_value(field& value);

    /// A whole number that fits, in as few digits as it can have.
    [[nodiscard]] bool take_number(std::uint32_t& number);

    [[nodiscard]] bool at_end() const { return at_ == end_; }
    [[nodiscard]] std::size_t offset_bytes() const {
        return static_cast<std::size_t>(at_ - begin_);
    }

private:
    [[nodiscard]] bool take_quote();
    [[nodiscard]] bool take_any_number(field& value);

    const char* begin_;
    const char* at_;
    const char* end_;
    /// Never further into the room than `at_` is into the text.
    char* room_;
};

}  // namespace walrelay::wal
