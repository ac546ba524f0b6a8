// How --help looks: what an option takes, what it does, wrapped at the width of the terminal.
#pragma once

#include <CLI/CLI.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace walrelay::app {

/// Of the terminal at standard output; 80 where there is none.
[[nodiscard]] std::size_t terminal_width();

/// The same, but nothing where standard output is no terminal: what reads it there wants all of a
/// line.
[[nodiscard]] std::optional<std::size_t> width_of_output();

/// Breaks `text` at blanks, so that no line after the first, which begins at column `from`, is
/// longer than `width`; the others are indented by `indent`.
[[nodiscard]] std::string wrapped(std::string_view text, std::size_t from, std::size_t indent,
                                  std::size_t width);

class help_text final : public CLI::Formatter {
public:
    explicit help_text(std::size_t width) : width_(width) {}

    [[nodiscard]] std::string make_help(const CLI::App* command, std::string name,
                                        CLI::AppFormatMode mode) const override;
    [[nodiscard]] std::string make_option(const CLI::Option* option,
                                          bool is_positional) const override;
    [[nodiscard]] std::string make_subcommand(const CLI::App* command) const override;
    [[nodiscard]] std::string make_description(const CLI::App* command) const override;
    [[nodiscard]] std::string make_footer(const CLI::App* command) const override;

private:
    [[nodiscard]] std::string in_two_columns(const std::string& name,
                                             const std::string& about) const;

    std::size_t width_;
};

}  // namespace walrelay::app
