// NATS subjects with wildcards, compared token by token.

#include "preflight/preflight.hpp"

namespace walrelay::preflight {
namespace {

/// Takes the first token off a subject.
std::string_view take_token(std::string_view& subject) {
    const auto dot = subject.find('.');
    const auto token = subject.substr(0, dot);
    subject.remove_prefix(dot == std::string_view::npos ? subject.size() : dot + 1);
    return token;
}

}  // namespace

bool subject_covers(std::string_view filter, std::string_view pattern) {
    while (!filter.empty() && !pattern.empty()) {
        const auto wanted = take_token(filter);
        const auto given = take_token(pattern);
        if (wanted == ">") {
            return true;
        }
        if (given == ">" || (wanted != "*" && wanted != given)) {
            return false;
        }
    }
    return filter.empty() && pattern.empty();
}

}  // namespace walrelay::preflight
