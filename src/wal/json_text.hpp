// A JSON text under simdjson's cursor: turns what simdjson says, and where, into our errors.
#pragma once

#include "core/error.hpp"
#include "wal/frame_error.hpp"

#include <simdjson.h>

#include <cstddef>
#include <string_view>

namespace walrelay::wal {

class json_text {
public:
    /// The view must outlive this; `subject` names what the JSON is, for errors.
    json_text(std::string_view json, std::string_view subject) : json_{json}, subject_{subject} {}

    /// Of a view into the text; of anything else the end of the text.
    [[nodiscard]] std::size_t offset_of(const char* position) const;

    /// Where the cursor stands; the end of the text once everything is read.
    template <class Cursor>
    [[nodiscard]] std::size_t offset_at(Cursor& cursor) const {
        const char* position = nullptr;
        const auto lost = cursor.current_location().get(position);
        return lost == simdjson::SUCCESS ? offset_of(position) : json_.size();
    }

    /// frame_truncated if the text ends too early, else frame_malformed.
    [[nodiscard]] error failure(simdjson::error_code code, std::string_view member,
                                std::size_t offset_bytes) const;

    [[nodiscard]] error malformed(std::string_view why, std::string_view member,
                                  std::size_t offset_bytes, std::string_view remedy = {}) const {
        return frame_error(errc::frame_malformed, {subject_, member, offset_bytes}, why, remedy);
    }

private:
    std::string_view json_;
    std::string_view subject_;
};

/// The characters of a number, true, false or null, or the first part of anything else, as they
/// stand in the text. Leaves the cursor where it is.
[[nodiscard]] std::string_view raw_token(simdjson::ondemand::value& value);

}  // namespace walrelay::wal
