// What follows from the table of keys.
#include "config/keys.hpp"

namespace walrelay::config {

std::string key::full_name() const {
    return std::string(section) + '.' + std::string(name);
}

std::string key::variable() const {
    std::string made = "WALRELAY_" + full_name();
    std::transform(made.begin(), made.end(), made.begin(), [](char c) {
        return c == '.' ? '_' : c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    });
    return made;
}

std::string key::kind_in_words() const {
    constexpr std::array<std::string_view, 8> words{"string",  "list of strings", "boolean",
                                                    "integer", "duration",        "byte size",
                                                    "choice",  "table of strings"};
    std::string made{words.at(static_cast<std::size_t>(takes.name))};
    for (const std::string& text : takes.accepted) {
        made += (made == "choice" ? " of `\"" : ", `\"") + text + "\"`";
    }
    return made;
}

std::string key::default_value() const {
    settings defaults;
    outbox_table table;
    return takes.show ? takes.show({defaults, table}) : "";
}

std::string heading_of(std::string_view section) {
    return section == "outbox" ? "[[outbox]]" : '[' + std::string(section) + ']';
}

const key* find_key(std::string_view full_name) {
    const auto found = std::find_if(keys().begin(), keys().end(),
                                    [&](const key& row) { return row.full_name() == full_name; });
    return found == keys().end() ? nullptr : &*found;
}

}  // namespace walrelay::config
