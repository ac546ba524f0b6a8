// Reads libpq's text of a failed connection: the only place where libpq tells an SQLSTATE in
// words alone.
#include "core/ascii.hpp"
#include "postgres/session/server_error.hpp"

#include <algorithm>

namespace walrelay::postgres {
namespace {

constexpr std::size_t sqlstate_length = 5;

bool is_sqlstate(std::string_view text) {
    const auto fits = [](char c) { return is_digit(c) || is_upper(c); };
    return text.size() == sqlstate_length && std::ranges::all_of(text, fits);
}

/// Where `FATAL:  28P01: words` has its code; npos if the line has none.
std::size_t find_sqlstate(std::string_view line) {
    for (auto at = line.find(":  "); at != std::string_view::npos; at = line.find(":  ", at + 1)) {
        const auto code = at + 3;
        if (is_sqlstate(line.substr(code, sqlstate_length)) &&
            line.substr(code + sqlstate_length, 2) == ": ") {
            return code;
        }
    }
    return std::string_view::npos;
}

void add_line(server_report& report, std::string_view line) {
    const auto code = find_sqlstate(line);
    auto words = std::string{line.substr(0, code)};
    if (code != std::string_view::npos) {
        report.sqlstate = line.substr(code, sqlstate_length);
        words += line.substr(code + sqlstate_length + 2);
    }
    if (!report.message.empty()) {
        report.message += ' ';
    }
    report.message += words;
}

std::string_view trimmed(std::string_view line) {
    const auto first = line.find_first_not_of(" \t\r");
    if (first == std::string_view::npos) {
        return {};
    }
    return line.substr(first, line.find_last_not_of(" \t\r") - first + 1);
}

/// `LOCATION:  auth_failed, auth.c:338`, whatever the language calls it.
bool names_source_line(std::string_view line) {
    const auto file = line.rfind(".c:");
    return file != std::string_view::npos &&
           line.find_first_not_of("0123456789", file + 3) == std::string_view::npos;
}

}  // namespace

server_report report_of_failed_connection(std::string_view text) {
    server_report report;
    while (!text.empty()) {
        const auto end = std::min(text.find('\n'), text.size());
        const auto line = trimmed(text.substr(0, end));
        if (!line.empty() && !names_source_line(line)) {
            add_line(report, line);
        }
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return report;
}

}  // namespace walrelay::postgres
