// See paint.hpp.
#include "demo/paint.hpp"

#include <unistd.h>

#include <cstdlib>

namespace walrelay::demo {
namespace {

bool has_colour() {
    const char* const without = std::getenv("NO_COLOR");
    return isatty(STDOUT_FILENO) == 1 && (without == nullptr || *without == '\0');
}

std::string_view code_of(hue how) {
    switch (how) {
        case hue::good:
            return "\x1b[32m";
        case hue::bad:
            return "\x1b[1;31m";
        case hue::faint:
            return "\x1b[2m";
    }
    return {};
}

}  // namespace

std::string painted(hue how, std::string_view text) {
    static const bool in_colour = has_colour();
    if (!in_colour) {
        return std::string(text);
    }
    return std::string(code_of(how)) + std::string(text) + "\x1b[0m";
}

}  // namespace walrelay::demo
