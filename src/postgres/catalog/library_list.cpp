#include "postgres/catalog/library_list.hpp"

#include <algorithm>
#include <string>

namespace walrelay::postgres {
namespace {

constexpr std::string_view blanks = " \t\n\r\v\f";

void skip_blanks(std::string_view& list) {
    list.remove_prefix(std::min(list.find_first_not_of(blanks), list.size()));
}

/// A quote inside is doubled. What follows the closing quote is for the next entry.
std::string take_quoted(std::string_view& list) {
    std::string entry;
    list.remove_prefix(1);
    while (!list.empty()) {
        if (list.front() == '"' && !list.substr(1).starts_with('"')) {
            break;
        }
        const std::size_t taken = list.front() == '"' ? 2 : 1;
        entry += list.front();
        list.remove_prefix(taken);
    }
    list.remove_prefix(std::min(list.find(','), list.size()));
    return entry;
}

std::string take_plain(std::string_view& list) {
    const auto end = std::min(list.find(','), list.size());
    auto entry = list.substr(0, end);
    list.remove_prefix(end);
    const auto last = entry.find_last_not_of(blanks);
    return std::string{entry.substr(0, last == std::string_view::npos ? 0 : last + 1)};
}

}  // namespace

bool lists_library(std::string_view list, std::string_view library) {
    while (!list.empty()) {
        skip_blanks(list);
        const auto entry = list.starts_with('"') ? take_quoted(list) : take_plain(list);
        if (entry == library) {
            return true;
        }
        list.remove_prefix(std::min<std::size_t>(1, list.size()));
    }
    return false;
}

}  // namespace walrelay::postgres
