#include "app/colour.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <utility>

namespace walrelay::app {
namespace {

constexpr std::string_view green = "\x1b[32m";
constexpr std::string_view yellow = "\x1b[33m";
constexpr std::string_view red = "\x1b[1;31m";
constexpr std::string_view faint = "\x1b[2m";
constexpr std::string_view plain = "\x1b[0m";

constexpr std::array<std::pair<std::string_view, std::string_view>, 22> codes{{
    {"ok", green},
    {"note", faint},
    {"warning", yellow},
    {"error", red},
    {"missing", red},
    {"undelivered", yellow},
    {"twice", red},
    {"out_of_order", red},
    {"foreign", yellow},
    {"orphaned", yellow},
    {"state        streaming", green},
    {"state        standby", green},
    {"state        snapshot", green},
    {"state        starting", yellow},
    {"state        catching up", yellow},
    {"state        waiting postgres", red},
    {"state        waiting broker", red},
    {"state        draining", yellow},
    {"state        halted", red},
    {"state        no answer", red},
    {"reason", red},
    {"fix", yellow},
}};

bool begins_with_word(std::string_view line, std::string_view word) {
    return line.starts_with(word) && (line.size() == word.size() || line[word.size()] == ' ');
}

}  // namespace

bool output_has_colour() {
    const char* const unwanted = std::getenv("NO_COLOR");
    const char* const terminal = std::getenv("TERM");
    const bool is_dumb = terminal != nullptr && std::string_view(terminal) == "dumb";
    return ::isatty(STDOUT_FILENO) == 1 && !is_dumb && (unwanted == nullptr || *unwanted == '\0');
}

std::string coloured(std::string_view text) {
    std::string made;
    while (!text.empty()) {
        const auto line = text.substr(0, std::min(text.find('\n'), text.size() - 1) + 1);
        text.remove_prefix(line.size());
        const auto whole = line.ends_with('\n') ? line.substr(0, line.size() - 1) : line;
        const auto found = std::ranges::find_if(
            codes, [whole](const auto& each) { return begins_with_word(whole, each.first); });
        if (found == codes.end()) {
            made += line;
            continue;
        }
        const auto& [words, code] = *found;
        // Of a state its name alone.
        const auto name = words.rfind("  ") == std::string_view::npos ? 0 : words.rfind("  ") + 2;
        made += std::string(line.substr(0, name)) + std::string(code) +
                std::string(words.substr(name)) + std::string(plain) +
                std::string(line.substr(words.size()));
    }
    return made;
}

std::string for_output(std::string text) {
    return output_has_colour() ? coloured(text) : std::move(text);
}

}  // namespace walrelay::app
