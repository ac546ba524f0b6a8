// What one setting's text must look like so that the two servers take it.
#include "config/checks.hpp"

#include "config/quote.hpp"

#include <algorithm>
#include <array>

namespace walrelay::config {
namespace {

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

char lowered(char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool is_letter(char c) {
    return lowered(c) >= 'a' && lowered(c) <= 'z';
}

/// A blank or a control character; bytes of UTF-8 are neither.
bool is_blank(char c) {
    return static_cast<unsigned char>(c) <= 0x20U || c == '\x7f';
}

bool is_slot_character(char c) {
    return (c >= 'a' && c <= 'z') || is_digit(c) || c == '_';
}

bool is_stream_character(char c) {
    constexpr std::string_view reserved = ".*>/\\";
    return !is_blank(c) && reserved.find(c) == std::string_view::npos;
}

bool is_token_character(char c) {
    constexpr std::string_view marks = "!#$%&'*+-.^_`|~";
    return is_letter(c) || is_digit(c) || marks.find(c) != std::string_view::npos;
}

bool is_prefix_character(char c) {
    constexpr std::string_view marks = "_-./";
    return is_letter(c) || is_digit(c) || marks.find(c) != std::string_view::npos;
}

bool all_of(std::string_view text, bool (*test)(char)) {
    return !text.empty() && std::all_of(text.begin(), text.end(), test);
}

bool is_subject_token(std::string_view token, bool last) {
    const bool wildcard = token == "*" || (token == ">" && last);
    return wildcard || (!token.empty() && token.find_first_of("*>") == std::string_view::npos &&
                        std::none_of(token.begin(), token.end(), is_blank));
}

}  // namespace

std::optional<complaint> check_nothing(const std::string&) {
    return std::nullopt;
}

std::optional<complaint> check_slot(const std::string& text) {
    if (text.size() <= 63 && all_of(text, is_slot_character)) {
        return std::nullopt;
    }
    return complaint{in_quotes(text) + " is not the name of a replication slot",
                     "write 1 to 63 of the characters a-z, 0-9 and _"};
}

std::optional<complaint> check_publication(const std::string& text) {
    if (!text.empty() && text.size() <= 63) {
        return std::nullopt;
    }
    return complaint{in_quotes(text) + " is not the name of a publication", "write 1 to 63 bytes"};
}

std::optional<complaint> check_stream(const std::string& text) {
    if (text.size() <= 255 && all_of(text, is_stream_character)) {
        return std::nullopt;
    }
    return complaint{in_quotes(text) + " is not the name of a stream",
                     "write a name without blanks, dots, *, > and slashes, such as \"OUTBOX\""};
}

std::optional<complaint> check_subject(const std::string& text) {
    std::string_view rest = text;
    while (true) {
        const std::size_t dot = rest.find('.');
        const bool last = dot == std::string_view::npos;
        if (!is_subject_token(rest.substr(0, dot), last)) {
            return complaint{in_quotes(text) + " is not a subject",
                             "write tokens with dots between, such as \"events.>\""};
        }
        if (last) {
            return std::nullopt;
        }
        rest.remove_prefix(dot + 1);
    }
}

std::optional<complaint> check_inbox_prefix(const std::string& text) {
    // It is part of each publish's protocol line, for which the server has 4 KiB.
    constexpr std::size_t longest = 255;
    const bool is_odd = text.starts_with('$') || text.find_first_of("*>") != std::string::npos ||
                        text.size() > longest;
    if (!is_odd && !check_subject(text)) {
        return std::nullopt;
    }
    return complaint{in_quotes(text) + " is not what subjects can begin with",
                     "write tokens with dots between, without * and >, at most 255 bytes, such as "
                     "\"_INBOX_relay\""};
}

std::optional<complaint> check_message_prefix(const std::string& text) {
    if (text.starts_with("walrelay.")) {
        return complaint{"prefixes that begin with walrelay. are reserved", "choose another one"};
    }
    if (text.empty() || (text.size() <= 63 && all_of(text, is_prefix_character))) {
        return std::nullopt;
    }
    return complaint{in_quotes(text) + " is not a prefix that walrelay takes",
                     "write 1 to 63 letters, digits, _, -, . and /, such as \"walrelay\""};
}

std::optional<complaint> check_url(const std::string& text) {
    constexpr std::array<std::string_view, 2> schemes{"nats://", "tls://"};
    const bool known = std::any_of(schemes.begin(), schemes.end(), [&](std::string_view scheme) {
        return text.starts_with(scheme) && text.size() > scheme.size();
    });
    if (known && std::none_of(text.begin(), text.end(), is_blank)) {
        return std::nullopt;
    }
    return complaint{"an address is not of the form nats://host:port or tls://host:port",
                     "write it like nats://127.0.0.1:4222, without blanks"};
}

std::optional<complaint> check_header_name(const std::string& text) {
    if (!all_of(text, is_token_character)) {
        return complaint{"is not the name of a header",
                         "write letters, digits and hyphens, such as \"Correlation-Id\""};
    }
    std::string lower = text;
    std::transform(lower.begin(), lower.end(), lower.begin(), lowered);
    if (lower.starts_with("nats-") || lower.starts_with("walrelay-")) {
        return complaint{"names that begin with Nats- or Walrelay- are reserved",
                         "choose another name"};
    }
    return std::nullopt;
}

}  // namespace walrelay::config
