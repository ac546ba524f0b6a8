// One thing that is wrong with the configuration, told so that it can be fixed without a search.
#pragma once

#include <string>

namespace walrelay::config {

/// One thing that is wrong, e.g. key = `delivery.ack_timeout`, where = `walrelay.toml:12`,
/// what = `"5 parsecs" is not a duration`, remedy = `write a number and a unit, such as "5s"`.
/// Never quotes a value that may hold a secret.
struct problem {
    std::string where;  // file:line, name of the variable, or the flag; empty if nothing sets it
    std::string key;    // section.key; empty for a variable that is not the name of a setting
    std::string what;
    std::string remedy;

    friend bool operator==(const problem&, const problem&) = default;
};

/// What a text is called that is none of those a key takes; a sentence goes on with the key.
inline constexpr const char* invalid_value = "invalid value ";

/// One line: "walrelay.toml:12: delivery.ack_timeout: ..; fix: ...", or
/// `walrelay.toml:12: invalid value "no" for delivery.on_poison: use one of dead_letter, halt`.
[[nodiscard]] std::string to_string(const problem& found);

}  // namespace walrelay::config
