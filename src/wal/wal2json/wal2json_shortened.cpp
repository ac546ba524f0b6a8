#include "wal/wal2json/wal2json_shortened.hpp"

#include <algorithm>

namespace walrelay::wal {
namespace {

/// Where the string ends that begins after the quote at `begin`: its closing quote, or the end of
/// the text.
std::size_t end_of_string(std::string_view json, std::size_t begin) {
    auto at = begin + 1;
    for (;;) {
        at = json.find_first_of("\"\\", at);
        if (at == std::string_view::npos || at + 1 >= json.size()) {
            return json.size();
        }
        if (json[at] == '"') {
            return at;
        }
        at += 2;  // an escape
    }
}

}  // namespace

std::string shortened(std::string_view json, std::size_t kept_bytes) {
    std::string text;
    std::size_t at = 0;
    while (at < json.size()) {
        const auto quote = std::min(json.find('"', at), json.size());
        text += json.substr(at, quote - at);
        if (quote == json.size()) {
            break;
        }
        const auto end = end_of_string(json, quote);
        const auto string = json.substr(quote, end - quote + 1);
        text += string.size() > kept_bytes ? std::string_view("null") : string;
        at = end + 1;
    }
    return text;
}

}  // namespace walrelay::wal
