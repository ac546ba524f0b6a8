#include "nats/session/wire_parser.hpp"

#include <charconv>
#include <cstdint>
#include <optional>

namespace walrelay::nats {
namespace {

constexpr std::string_view end_of_line = "\r\n";

wire_operation malformed(std::string_view bytes) {
    constexpr std::size_t shown_bytes = 64;
    return {wire_verb::malformed, {}, {}, bytes.substr(0, shown_bytes)};
}

/// Takes the last word off a line; empty where there is none.
std::string_view take_last_word(std::string_view& line) {
    const auto blank = line.rfind(' ');
    if (blank == std::string_view::npos) {
        return {};
    }
    const auto word = line.substr(blank + 1);
    line = line.substr(0, blank);
    return word;
}

std::optional<std::size_t> parse_size(std::string_view word) {
    std::size_t size = 0;
    const char* const end = word.data() + word.size();
    const auto [stop, failure] = std::from_chars(word.data(), end, size);
    if (failure != std::errc{} || stop != end || size > operation_max_bytes) {
        return std::nullopt;
    }
    return size;
}

/// `arguments` are those of MSG (subject, id, [reply], size) or HMSG (with the headers' size before
/// the size); `behind` is what follows their line.
wire_operation take_message(std::string_view arguments, bool with_headers, std::string_view behind,
                            std::string_view& unread) {
    auto rest = arguments;
    const auto total = parse_size(take_last_word(rest));
    const auto headers = with_headers ? parse_size(take_last_word(rest)) : std::size_t{0};
    const auto subject = rest.substr(0, rest.find(' '));
    if (!total || !headers || *headers > *total || subject.empty() ||
        subject.size() == rest.size()) {
        return malformed(unread);
    }
    if (behind.size() < *total + end_of_line.size()) {
        return {};
    }
    if (behind.substr(*total, end_of_line.size()) != end_of_line) {
        return malformed(unread);
    }
    unread = behind.substr(*total + end_of_line.size());
    return {wire_verb::message, subject, behind.substr(0, *headers),
            behind.substr(*headers, *total - *headers)};
}

bool take_prefix(std::string_view& line, std::string_view prefix) {
    if (!line.starts_with(prefix)) {
        return false;
    }
    line.remove_prefix(prefix.size());
    return true;
}

/// The operations of one line.
wire_operation parse_line(std::string_view line) {
    if (take_prefix(line, "INFO ")) {
        return {wire_verb::info, {}, {}, line};
    }
    if (take_prefix(line, "-ERR")) {
        const auto first = line.find_first_not_of(" '");
        const auto last = line.find_last_not_of(" '");
        return {wire_verb::err,
                {},
                {},
                first == std::string_view::npos ? line : line.substr(first, last - first + 1)};
    }
    if (line == "PING") {
        return {wire_verb::ping};
    }
    if (line == "PONG") {
        return {wire_verb::pong};
    }
    if (line == "+OK") {
        return {wire_verb::ok};
    }
    return {wire_verb::malformed};
}

}  // namespace

wire_operation take_operation(std::string_view& unread) {
    const auto end = unread.find('\n');
    if (end == std::string_view::npos) {
        return unread.size() > operation_max_bytes ? malformed(unread) : wire_operation{};
    }
    auto line = unread.substr(0, end);
    if (line.ends_with('\r')) {
        line.remove_suffix(1);
    }
    const auto behind = unread.substr(end + 1);
    if (take_prefix(line, "MSG ")) {
        return take_message(line, false, behind, unread);
    }
    if (take_prefix(line, "HMSG ")) {
        return take_message(line, true, behind, unread);
    }
    const auto found = parse_line(line);
    if (found.verb == wire_verb::malformed) {
        return malformed(unread);
    }
    unread = behind;
    return found;
}

unsigned status_of(const wire_operation& received) {
    constexpr std::string_view version = "NATS/1.0 ";
    if (!received.headers.starts_with(version)) {
        return 0;
    }
    unsigned status = 0;
    const auto* const begin = received.headers.data() + version.size();
    std::from_chars(begin, received.headers.data() + received.headers.size(), status);
    return status;
}

}  // namespace walrelay::nats
