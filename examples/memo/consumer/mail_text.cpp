// See mail_text.hpp.
#include "consumer/mail_text.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

namespace memo {
namespace {

bool is_letter_or_digit(char letter) {
    return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
           (letter >= '0' && letter <= '9');
}

std::string base64(std::string_view bytes) {
    constexpr std::string_view digits =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string text;
    for (std::size_t at = 0; at < bytes.size(); at += 3) {
        const auto group = bytes.substr(at, 3);
        std::uint32_t bits = 0;
        for (std::size_t index = 0; index < 3; ++index) {
            const char byte = index < group.size() ? group[index] : '\0';
            bits = bits << 8U | static_cast<unsigned char>(byte);
        }
        for (std::size_t index = 0; index < 4; ++index) {
            const auto digit = bits >> (18U - 6U * index) & 63U;
            text += index <= group.size() ? digits[digit] : '=';
        }
    }
    return text;
}

/// At most `limit` bytes from the front, without cutting a UTF-8 character.
std::string_view front_part(std::string_view text, std::size_t limit) {
    if (text.size() <= limit) {
        return text;
    }
    const auto continues = [&](std::size_t at) {
        return (static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80U;
    };
    auto end = limit;
    while (end > 0 && continues(end)) {
        --end;
    }
    return text.substr(0, end > 0 ? end : limit);
}

/// RFC 2047: no line of a header is longer than 76, and an encoded word is at most 75.
std::string header_text(std::string_view text) {
    constexpr std::size_t plain_limit = 60;
    const bool plain = text.size() <= plain_limit && text.find("=?") == std::string_view::npos &&
                       std::all_of(text.begin(), text.end(),
                                   [](char letter) { return letter >= ' ' && letter <= '~'; });
    if (plain) {
        return std::string(text);
    }
    constexpr std::size_t bytes_per_word = 36;
    std::string words;
    while (!text.empty()) {
        const auto part = front_part(text, bytes_per_word);
        words += words.empty() ? "=?UTF-8?B?" : "\r\n =?UTF-8?B?";
        words += base64(part) + "?=";
        text.remove_prefix(part.size());
    }
    return words;
}

std::string base64_lines(std::string_view text) {
    constexpr std::size_t bytes_per_line = 57;
    std::string lines;
    for (std::size_t at = 0; at < text.size(); at += bytes_per_line) {
        lines += base64(text.substr(at, bytes_per_line)) + "\r\n";
    }
    return lines;
}

std::string date_text(std::time_t now) {
    constexpr std::array days{"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
    constexpr std::array months{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    std::tm parts{};
    gmtime_r(&now, &parts);
    // Names by hand: strftime would take them from the locale.
    std::array<char, 32> rest{};
    const auto size = std::strftime(rest.data(), rest.size(), " %Y %H:%M:%S +0000", &parts);
    return std::string(days.at(static_cast<std::size_t>(parts.tm_wday))) + ", " +
           std::to_string(parts.tm_mday) + " " + months.at(static_cast<std::size_t>(parts.tm_mon)) +
           std::string(rest.data(), size);
}

}  // namespace

std::string message_id_header(std::string_view message_id, std::string_view from) {
    constexpr std::string_view hexadecimal = "0123456789ABCDEF";
    std::string text = "<";
    for (const char letter : message_id) {
        if (is_letter_or_digit(letter) || letter == '-' || letter == '_') {
            text += letter;
        } else {
            const auto byte = static_cast<unsigned char>(letter);
            text += {'=', hexadecimal[byte >> 4U], hexadecimal[byte & 15U]};
        }
    }
    return text + std::string(from.substr(from.rfind('@'))) + ">";
}

std::string mail_text(const mail_order& order, std::string_view from, std::time_t now) {
    return "From: " + std::string(from) + "\r\nTo: " + order.recipient +
           "\r\nSubject: " + header_text(order.subject) + "\r\nDate: " + date_text(now) +
           "\r\nMessage-ID: " + message_id_header(order.message_id, from) +
           "\r\nMIME-Version: 1.0\r\nContent-Type: text/plain; charset=utf-8"
           "\r\nContent-Transfer-Encoding: base64\r\n\r\n" +
           base64_lines(order.text);
}

}  // namespace memo
