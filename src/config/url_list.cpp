// Several servers in one text.
#include "config/url_list.hpp"

#include <algorithm>
#include <cstddef>

namespace walrelay::config {
namespace {

constexpr std::string_view scheme_mark = "://";

std::string_view without_spaces(std::string_view text) {
    constexpr std::string_view blanks = " \t\r\n";
    const std::size_t begin = std::min(text.find_first_not_of(blanks), text.size());
    return text.substr(begin, text.find_last_not_of(blanks) + 1 - begin);
}

/// Where the first address of the text ends.
std::size_t end_of_first(std::string_view text) {
    for (auto comma = text.find(','); comma != std::string_view::npos;
         comma = text.find(',', comma + 1)) {
        const auto at = text.find('@', comma + 1);
        const auto next = text.find(scheme_mark, comma + 1);
        const bool is_of_a_password = at != std::string_view::npos && at < next;
        if (!is_of_a_password) {
            return comma;
        }
    }
    return text.size();
}

}  // namespace

std::vector<std::string> split_urls(std::string_view text) {
    std::vector<std::string> found;
    for (auto rest = without_spaces(text); !rest.empty();) {
        const auto end = end_of_first(rest);
        found.emplace_back(without_spaces(rest.substr(0, end)));
        if (end == rest.size()) {
            break;
        }
        rest.remove_prefix(end + 1);
        if (rest.empty()) {
            found.emplace_back();
        }
    }
    return found;
}

std::vector<std::string> split_urls_of_nats(std::string_view text) {
    auto found = split_urls(text);
    for (auto& each : found) {
        if (!each.empty() && each.find(scheme_mark) == std::string::npos) {
            each.insert(0, "nats://");
        }
    }
    return found;
}

}  // namespace walrelay::config
