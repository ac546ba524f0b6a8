#include "wal/json_text.hpp"

#include <functional>
#include <string>

namespace walrelay::wal {

std::size_t json_text::offset_of(const char* position) const {
    const std::less<> before;
    const char* const end = json_.data() + json_.size();
    if (before(position, json_.data()) || before(end, position)) {
        return json_.size();
    }
    return static_cast<std::size_t>(position - json_.data());
}

error json_text::failure(simdjson::error_code code, std::string_view member,
                         std::size_t offset_bytes) const {
    const bool ends_early = code == simdjson::EMPTY || code == simdjson::UNCLOSED_STRING ||
                            code == simdjson::INCOMPLETE_ARRAY_OR_OBJECT;
    return frame_error(ends_early ? errc::frame_truncated : errc::frame_malformed,
                       {subject_, member, offset_bytes},
                       std::string{"cannot be read as JSON: "} + simdjson::error_message(code));
}

std::string_view raw_token(simdjson::ondemand::value& value) {
    const auto token = value.raw_json_token();
    const auto last = token.find_last_not_of(" \t\r\n");
    return token.substr(0, last == std::string_view::npos ? 0 : last + 1);
}

}  // namespace walrelay::wal
