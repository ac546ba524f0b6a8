#include "app/help_text.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

namespace walrelay::app {
namespace {

constexpr std::size_t usual_width = 80;
constexpr std::size_t least_width = 40;
/// Where the second column begins.
constexpr std::size_t second_column = 26;

}  // namespace

std::optional<std::size_t> width_of_output() {
    winsize size{};
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) {
        return std::nullopt;
    }
    return std::max<std::size_t>(size.ws_col, least_width);
}

std::size_t terminal_width() {
    return width_of_output().value_or(usual_width);
}

std::string wrapped(std::string_view text, std::size_t from, std::size_t indent,
                    std::size_t width) {
    std::string made;
    std::size_t column = from;
    bool at_start = true;
    while (!text.empty()) {
        const auto word = text.substr(0, text.find(' '));
        text.remove_prefix(std::min(word.size() + 1, text.size()));
        if (!at_start && column + 1 + word.size() > width) {
            made += '\n' + std::string(indent, ' ');
            column = indent;
        } else if (!at_start) {
            made += ' ';
            ++column;
        }
        made += word;
        column += word.size();
        at_start = false;
    }
    return made;
}

std::string help_text::in_two_columns(const std::string& name, const std::string& about) const {
    std::string made = "  " + name;
    if (made.size() + 2 > second_column) {
        made += '\n' + std::string(second_column, ' ');
    } else {
        made += std::string(second_column - made.size(), ' ');
    }
    return made + wrapped(about, second_column, second_column, width_) + '\n';
}

std::string help_text::make_help(const CLI::App* command, std::string name,
                                 CLI::AppFormatMode mode) const {
    return CLI::detail::find_and_replace(CLI::Formatter::make_help(command, std::move(name), mode),
                                         "\n\n\n", "\n\n");
}

std::string help_text::make_option(const CLI::Option* option, bool is_positional) const {
    auto name = is_positional ? option->get_name(true) : option->get_name(false, true);
    // What a flag stands for without a value, which its sentence says: "--print{all}".
    name = name.substr(0, name.find('{'));
    const auto takes = option->get_type_size() == 0 ? "" : ' ' + option->get_type_name();
    return in_two_columns(name + (is_positional ? "" : takes), option->get_description());
}

std::string help_text::make_subcommand(const CLI::App* command) const {
    return in_two_columns(command->get_name(), command->get_description());
}

std::string help_text::make_description(const CLI::App* command) const {
    return wrapped(command->get_description(), 0, 0, width_) + '\n';
}

std::string help_text::make_footer(const CLI::App* command) const {
    const auto footer = command->get_footer();
    return footer.empty() ? "" : '\n' + wrapped(footer, 0, 0, width_) + '\n';
}

}  // namespace walrelay::app
