// Problems in words.
#include "config/problem.hpp"

namespace walrelay::config {

std::string to_string(const problem& found) {
    std::string line;
    for (const std::string* part : {&found.where, &found.key}) {
        if (!part->empty()) {
            line += *part + ": ";
        }
    }
    line += found.what;
    if (!found.remedy.empty()) {
        line += ". To mend it: " + found.remedy;
    }
    return line;
}

}  // namespace walrelay::config
