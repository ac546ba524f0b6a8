// docs/man/walrelay.1 and the completions of the shells, made of the commands and flags that the
// program itself parses. Source of the notation: man(7); "Programmable Completion" of bash(1);
// zshcompsys(1); complete(1) of fish.
#pragma once

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

namespace walrelay::app {

struct command_flag {
    /// Without the dashes, such as "table"; of flags with a short form that, too, such as "h".
    std::string name;
    std::string short_name;
    std::string about;
    /// What stands for the value, such as FILE; empty where it takes none.
    std::string takes;
    /// The values that there are, if they are known.
    std::vector<std::string> choices;
};

struct described_command {
    /// "run", "dead-letter retry".
    std::string name;
    std::string about;
    std::vector<command_flag> flags;
    /// Such as ID...; empty if there are none.
    std::string arguments;
    /// Whether there are others below it.
    bool is_parent = false;
    /// Whether it is only there for those: it does nothing alone.
    bool needs_another = false;
};

/// All commands, each parent before its own.
[[nodiscard]] std::vector<described_command> commands_of(const CLI::App& program);

[[nodiscard]] std::string man_page(const std::vector<described_command>& commands);
[[nodiscard]] std::string bash_completion(const std::vector<described_command>& commands);
[[nodiscard]] std::string zsh_completion(const std::vector<described_command>& commands);
[[nodiscard]] std::string fish_completion(const std::vector<described_command>& commands);

}  // namespace walrelay::app
