// Reads what nats/wire_lines has written as a server does, strictly: one HPUB and nothing behind
// it. Knows nothing of rows.
#pragma once

#include "fuzz/require.hpp"

#include <algorithm>
#include <charconv>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace walrelay::fuzz {

struct written_publish {
    std::string_view subject;
    std::string_view headers;
    std::string_view body;
};

/// Takes what stands before `separator` off `text`, which must have one.
inline std::string_view take_until(std::string_view& text, std::string_view separator) {
    const auto at = text.find(separator);
    require(at != std::string_view::npos, "a part is ended");
    const auto part = text.substr(0, at);
    text.remove_prefix(at + separator.size());
    return part;
}

inline std::size_t read_size(std::string_view digits) {
    std::size_t size = 0;
    const auto* const end = digits.data() + digits.size();
    const auto [stop, failure] = std::from_chars(digits.data(), end, size);
    require(failure == std::errc{} && stop == end, "a size is a number");
    return size;
}

inline written_publish read_publish(std::string_view lines) {
    auto line = take_until(lines, "\r\n");
    require(is_printable(line), "the line has no control characters");
    require(take_until(line, " ") == "HPUB", "the verb comes first");
    written_publish read;
    read.subject = take_until(line, " ");
    require(!take_until(line, " ").empty(), "the answer has a subject");
    const auto headers = read_size(take_until(line, " "));
    const auto total = read_size(line);
    require(headers <= total && total + 2 == lines.size(), "the sizes are true");
    read.headers = lines.substr(0, headers);
    read.body = lines.substr(headers, total - headers);
    require(lines.substr(total) == "\r\n", "the body is ended");
    return read;
}

/// Names and values of a header block.
inline std::vector<std::pair<std::string_view, std::string_view>> read_headers(
    std::string_view block) {
    std::vector<std::pair<std::string_view, std::string_view>> found;
    require(take_until(block, "\r\n") == "NATS/1.0", "the version comes first");
    for (auto line = take_until(block, "\r\n"); !line.empty(); line = take_until(block, "\r\n")) {
        require(is_printable(line), "a header has no control characters");
        const auto name = take_until(line, ": ");
        require(!name.empty() && name.find(' ') == std::string_view::npos, "a header has a name");
        require(!line.starts_with(' ') && !line.ends_with(' '), "a value has no blanks around it");
        found.emplace_back(name, line);
    }
    require(block.empty(), "the blank line is the last one");
    return found;
}

inline std::string in_lower_case(std::string_view text) {
    std::string lower(text);
    std::ranges::transform(lower, lower.begin(), [](char each) {
        return each >= 'A' && each <= 'Z' ? static_cast<char>(each - 'A' + 'a') : each;
    });
    return lower;
}

/// How often `part` stands in `text`, in any case.
inline std::size_t count_of(std::string_view text, std::string_view part) {
    const auto lower = in_lower_case(text);
    const auto wanted = in_lower_case(part);
    std::size_t count = 0;
    for (auto at = lower.find(wanted); at != std::string::npos; at = lower.find(wanted, at + 1)) {
        ++count;
    }
    return count;
}

}  // namespace walrelay::fuzz
