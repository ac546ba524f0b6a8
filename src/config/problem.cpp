// Problems in words.
#include "config/problem.hpp"

namespace walrelay::config {

std::string to_string(const problem& found) {
    const std::string where = found.where.empty() ? "" : found.where + ": ";
    if (found.what.starts_with(invalid_value)) {
        return where + found.what + " for " + found.key + ": " + found.remedy;
    }
    const std::string remedy = found.remedy.empty() ? "" : "; fix: " + found.remedy;
    return where + (found.key.empty() ? "" : found.key + ": ") + found.what + remedy;
}

}  // namespace walrelay::config
