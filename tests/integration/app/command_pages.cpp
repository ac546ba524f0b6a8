// See command_pages.hpp.
#include "integration/app/command_pages.hpp"

#include <algorithm>
#include <sstream>
#include <string_view>

namespace walrelay::app {
namespace {

constexpr const char* origin =
    "Made from the flags of the program; app_tests say how to write it again.";

std::vector<std::string> parted(const std::string& text, char at) {
    std::vector<std::string> parts;
    std::istringstream in(text);
    for (std::string part; std::getline(in, part, at);) {
        parts.push_back(part);
    }
    return parts;
}

std::string replaced(std::string text, std::string_view what, std::string_view with) {
    for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at)) {
        text.replace(at, what.size(), with);
        at += with.size();
    }
    return text;
}

/// What the first words of a help text say: the rest is in walrelay.toml(5).
std::string first_sentence(const std::string& text) {
    const auto end = text.find(". ");
    auto made = end == std::string::npos ? text : text.substr(0, end);
    if (made.ends_with('.')) {
        made.pop_back();
    }
    return made;
}

command_flag flag_of(const CLI::Option& option) {
    command_flag made;
    made.name = option.get_lnames().empty() ? "" : option.get_lnames().front();
    made.short_name = option.get_snames().empty() ? "" : option.get_snames().front();
    made.about = first_sentence(option.get_description());
    if (option.get_type_size() != 0) {
        made.takes = option.get_type_name();
        if (made.takes.find('|') != std::string::npos) {
            made.choices = parted(made.takes, '|');
        }
    }
    if (made.name == "print") {
        made.choices = {"sql", "stream"};
    }
    return made;
}

void add_options(described_command& to, const CLI::App& from) {
    for (const auto* option : from.get_options()) {
        if (option->get_positional()) {
            const std::string takes = option->get_name(true) == "name" ? "NAME" : "NUMBER";
            to.arguments = takes + (option->get_required() ? "" : "...");
        } else {
            to.flags.push_back(flag_of(*option));
        }
    }
}

void add_commands_below(std::vector<described_command>& to, const CLI::App& parent,
                        const std::string& path) {
    for (const auto* each : parent.get_subcommands({})) {
        described_command made;
        made.name = path + each->get_name();
        made.about = each->get_description();
        add_options(made, *each);
        const auto below = each->get_subcommands({});
        made.is_parent = !below.empty();
        made.needs_another = each->get_require_subcommand_min() > 0;
        to.push_back(made);
        add_commands_below(to, *each, made.name + " ");
    }
}

std::string roff(std::string text) {
    text = replaced(std::move(text), "\\", "\\e");
    text = replaced(std::move(text), "-", "\\-");
    text = replaced(std::move(text), "'", "\\(aq");
    return text.starts_with('.') ? "\\&" + text : text;
}

std::string as_sentence(std::string text) {
    text.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(text.front())));
    return text + ".";
}

std::string words_of(const std::vector<std::string>& words) {
    std::string made;
    for (const auto& word : words) {
        made += (made.empty() ? "" : " ") + word;
    }
    return made;
}

std::vector<std::string> long_flags(const described_command& command) {
    std::vector<std::string> names;
    for (const auto& flag : command.flags) {
        names.push_back("--" + flag.name);
    }
    return names;
}

/// Those that count without another command.
std::vector<command_flag> flags_of(const described_command& command) {
    return command.needs_another ? std::vector<command_flag>{} : command.flags;
}

/// The names right below `path`, which is empty or ends in a blank.
std::vector<std::string> names_below(const std::vector<described_command>& commands,
                                     const std::string& path) {
    std::vector<std::string> names;
    for (const auto& command : commands) {
        if (command.name.starts_with(path) &&
            command.name.find(' ', path.size()) == std::string::npos) {
            names.push_back(command.name.substr(path.size()));
        }
    }
    return names;
}

bool is_file(const command_flag& flag) {
    return flag.takes == "FILE";
}

}  // namespace

std::vector<described_command> commands_of(const CLI::App& program) {
    std::vector<described_command> made;
    add_commands_below(made, program, "");
    return made;
}

std::string man_page(const std::vector<described_command>& commands) {
    std::string made =
        ".\\\" " + std::string(origin) +
        "\n.TH WALRELAY 1 \"\" walrelay \"User Commands\"\n.nh\n.ad l\n"
        ".SH NAME\nwalrelay \\- relay from PostgreSQL outbox tables to NATS JetStream\n"
        ".SH SYNOPSIS\n.B walrelay\n.I command\n.RI [ flags ]\n"
        ".SH DESCRIPTION\n"
        "walrelay tails a logical replication slot of PostgreSQL and publishes the "
        "rows of outbox tables to a stream of NATS JetStream, in commit order. The "
        "slot advances only after the broker's ack.\n.PP\n"
        "Flags that set a key of the configuration are described in full in\n"
        ".BR walrelay.toml (5)\nand by\n.BR \"walrelay\" \" \" "
        "\\fIcommand\\fR \" \" \"\\-\\-help\" .\n.SH COMMANDS\n";
    for (const auto& command : commands) {
        made += ".SS \"walrelay " + roff(command.name) +
                (command.arguments.empty() ? "" : " " + roff(command.arguments)) + "\"\n" +
                roff(as_sentence(command.about)) + "\n";
        for (const auto& flag : flags_of(command)) {
            made += ".TP\n\\fB\\-\\-" + roff(flag.name) + "\\fR" +
                    (flag.takes.empty() ? "" : " \\fI" + roff(flag.takes) + "\\fR") + "\n" +
                    roff(as_sentence(flag.about)) + "\n";
        }
    }
    return made +
           ".SH EXIT STATUS\n.TP\n.B 0\nDone, or stopped in order.\n.TP\n.B 1\n"
           "\\fBcheck\\fR or \\fBverify\\fR found something; \\fBfind\\fR knows nothing of the "
           "event, or it is not settled; \\fBstatus\\fR found no relay that is ready; "
           "\\fBconfig\\fR could not read the table, or not tell its columns; \\fBresume\\fR "
           "changed nothing, as rows are missing or messages stay lost; \\fBdead\\-letter\\fR did "
           "not find what was asked for, or a retry leaves letters open; \\fBbookmark drop\\fR "
           "found no such bookmark; \\fBreplay\\fR: no such number, over already, cancelled, or "
           "what it is to begin with is not kept; \\fBreplay \\-\\-to\\-stream\\fR left rows out; "
           "\\fBdrop\\fR leaves something that was asked for, or that keeps WAL.\n.TP\n.B 2\n"
           "The command line or the configuration cannot be used.\n.TP\n.B 3\n"
           "An operator must decide; the last line says what happened and which command fixes it."
           "\n.TP\n.B 70\nA failure of walrelay itself, or no memory left. Start it again.\n"
           ".SH ENVIRONMENT\n"
           "Every key of the configuration can be given as \\fBWALRELAY_<SECTION>_<KEY>\\fR. The "
           "\\fBPG*\\fR variables of libpq are honoured, and \\fBNATS_URL\\fR where nothing else "
           "names "
           "servers of NATS. \\fBNO_COLOR\\fR turns colour off.\n"
           ".SH FILES\n.TP\n.I ./walrelay.toml\nThe configuration, if no \\fB\\-\\-config\\fR is "
           "given.\n.TP\n.I /etc/walrelay/walrelay.toml\nThe configuration, if the folder has "
           "none.\n.SH SEE ALSO\n.BR walrelay.toml (5)\n";
}

std::string bash_completion(const std::vector<described_command>& commands) {
    std::string made = "# " + std::string(origin) + R"sh(
_walrelay() {
    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
    local command= word index
    for ((index = 1; index < COMP_CWORD; index++)); do
        word=${COMP_WORDS[index]}
        case "$command:$word" in
)sh";
    for (const auto& command : commands) {
        const auto last = command.name.rfind(' ');
        const auto parent = last == std::string::npos ? "" : command.name.substr(0, last);
        const auto name = last == std::string::npos ? command.name : command.name.substr(last + 1);
        made +=
            "            \"" + parent + ":" + name + "\") command=\"" + command.name + "\" ;;\n";
    }
    made += "        esac\n    done\n    case \"$command $previous\" in\n";
    for (const auto& command : commands) {
        for (const auto& flag : command.flags) {
            const auto head = "        \"" + command.name + " --" + flag.name + "\") ";
            if (is_file(flag)) {
                made += head + "mapfile -t COMPREPLY < <(compgen -f -- \"$current\"); return ;;\n";
            } else if (!flag.takes.empty() && !flag.choices.empty()) {
                made += head + "mapfile -t COMPREPLY < <(compgen -W \"" + words_of(flag.choices) +
                        "\" -- \"$current\"); return ;;\n";
            } else if (!flag.takes.empty()) {
                made += head + "return ;;\n";
            }
        }
    }
    made += "    esac\n    local words\n    case $command in\n";
    made +=
        "        '') words=\"" + words_of(names_below(commands, "")) + " --help --version\" ;;\n";
    for (const auto& command : commands) {
        auto words = long_flags(command);
        if (command.is_parent) {
            const auto below = names_below(commands, command.name + " ");
            words.insert(words.begin(), below.begin(), below.end());
        }
        made += "        '" + command.name + "') words=\"" + words_of(words) + "\" ;;\n";
    }
    return made + R"sh(    esac
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
}
complete -F _walrelay walrelay
)sh";
}

namespace {

std::string zsh_quoted(const std::string& text) {
    return replaced(replaced(replaced(text, "'", "'\\''"), "[", "\\["), "]", "\\]");
}

std::string zsh_flag(const command_flag& flag) {
    std::string made = "'--" + flag.name;
    made += "[" + zsh_quoted(flag.about) + "]";
    if (!flag.takes.empty()) {
        made += ":" + replaced(zsh_quoted(flag.takes), ":", "\\:") + ":";
        made += is_file(flag)          ? "_files"
                : flag.choices.empty() ? ""
                                       : "(" + words_of(flag.choices) + ")";
    }
    return made + "'";
}

std::string zsh_commands(const std::vector<described_command>& commands, const std::string& path) {
    std::string made;
    for (const auto& command : commands) {
        if (command.name.starts_with(path) &&
            command.name.find(' ', path.size()) == std::string::npos) {
            made += "                '" + command.name.substr(path.size()) + ":" +
                    replaced(zsh_quoted(command.about), ":", "\\:") + "'\n";
        }
    }
    return made;
}

std::string zsh_arguments(const std::vector<command_flag>& flags) {
    std::string made = "_arguments";
    for (const auto& flag : flags) {
        made += " \\\n                " + zsh_flag(flag);
    }
    return made;
}

/// Of a command with others below it: their names, or the flags of the one that is there.
std::string zsh_parent(const std::vector<described_command>& commands,
                       const described_command& command) {
    auto made =
        "            if ((CURRENT == 3)) && [[ ${words[3]} != -* ]]; then\n"
        "                known=(\n" +
        zsh_commands(commands, command.name + " ") +
        "                )\n                _describe action known\n"
        "                return\n            fi\n            case ${words[3]} in\n";
    for (const auto& below : commands) {
        if (below.name.starts_with(command.name + " ")) {
            made += "            " + below.name.substr(command.name.size() + 1) + ") " +
                    zsh_arguments(below.flags) + " ;;\n";
        }
    }
    return made + "            *) " + zsh_arguments(flags_of(command)) + " ;;\n            esac\n";
}

}  // namespace

std::string zsh_completion(const std::vector<described_command>& commands) {
    std::string made = "#compdef walrelay\n# " + std::string(origin) + R"sh(
_walrelay() {
    local -a known
    local command=${words[2]:-}
    ((CURRENT > 2)) || command=
    case $command in
        '')
            known=(
)sh" + zsh_commands(commands, "") +
                       R"sh(            )
            _describe command known
            ;;
)sh";
    for (const auto& command : commands) {
        if (command.name.find(' ') != std::string::npos) {
            continue;
        }
        made += "        " + command.name + ")\n";
        made += command.is_parent ? zsh_parent(commands, command)
                                  : "            " + zsh_arguments(command.flags) + "\n";
        made += "            ;;\n";
    }
    return made + "    esac\n}\n_walrelay \"$@\"\n";
}

std::string fish_completion(const std::vector<described_command>& commands) {
    const auto quoted = [](const std::string& text) {
        return "'" + replaced(replaced(text, "\\", "\\\\"), "'", "\\'") + "'";
    };
    std::string made = "# " + std::string(origin) + "\ncomplete -c walrelay -f\n";
    const auto tops = words_of(names_below(commands, ""));
    for (const auto& command : commands) {
        const auto blank = command.name.find(' ');
        const auto top = command.name.substr(0, blank);
        const auto below = words_of(names_below(commands, top + " "));
        std::string when = "__fish_seen_subcommand_from " + top;
        if (blank == std::string::npos) {
            made += "complete -c walrelay -n 'not __fish_seen_subcommand_from " + tops + "' -a " +
                    command.name + " -d " + quoted(command.about) + "\n";
        } else {
            made += "complete -c walrelay -n '" + when + "; and not __fish_seen_subcommand_from " +
                    below + "' -a " + command.name.substr(blank + 1) + " -d " +
                    quoted(command.about) + "\n";
            when += "; and __fish_seen_subcommand_from " + command.name.substr(blank + 1);
        }
        for (const auto& flag : flags_of(command)) {
            made += "complete -c walrelay -n '" + when + "' -l " + flag.name;
            made += flag.takes.empty() ? "" : is_file(flag) ? " -r -F" : " -x";
            made += flag.takes.empty() || flag.choices.empty()
                        ? ""
                        : " -a " + quoted(words_of(flag.choices));
            made += " -d " + quoted(flag.about) + "\n";
        }
    }
    return made;
}

}  // namespace walrelay::app
