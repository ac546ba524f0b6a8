// A commented walrelay.toml.
#include "config/sample_file.hpp"

#include <sstream>

namespace walrelay::config {
namespace {

constexpr std::size_t width = 98;

/// The words as comment lines. Markdown's marks of code are left out.
std::string comment(std::string_view text) {
    std::string plain(text);
    std::erase(plain, '`');
    std::istringstream words(plain);
    std::string lines;
    std::string line = "#";
    for (std::string word; words >> word;) {
        if (line.size() + 1 + word.size() > width) {
            lines += line + '\n';
            line = "#";
        }
        line += ' ' + word;
    }
    return lines + line + '\n';
}

std::string shown_value(const key& row, const sample& of) {
    if (const auto proposed = of.proposed.find(row.full_name()); proposed != of.proposed.end()) {
        return proposed->second;
    }
    const std::string value = row.default_value();
    return !value.empty() ? value : !row.example.empty() ? std::string(row.example) : "\"\"";
}

std::string line_of(const key& row, const sample& of) {
    const auto set = of.set.find(row.full_name());
    const std::string name(row.name);
    return set == of.set.end() ? '#' + name + " = " + shown_value(row, of) + '\n'
                               : name + " = " + set->second + '\n';
}

std::string section_of(std::string_view section, const sample& of) {
    std::string made;
    for (const key& row : keys()) {
        if (row.section != section) {
            continue;
        }
        made += '\n' + comment(row.documentation);
        if (!row.takes.accepted.empty()) {
            made += comment("One of " + joined(row.takes.accepted) + '.');
        }
        made += line_of(row, of);
    }
    return made;
}

}  // namespace

std::string sample_file(const sample& of) {
    std::string made =
        "# The configuration of walrelay, as `walrelay config` prints it. A line `#key = value` "
        "shows\n"
        "# a default, or an example where there is none: remove the # to set the key. Required "
        "are\n"
        "# conninfo and a table; walrelay config --check says whether the file can be used.\n";
    auto sections = section_names;
    std::stable_partition(sections.begin(), sections.end(), [](std::string_view section) {
        return section == "postgres" || section == "nats" || section == "outbox";
    });
    for (const std::string_view section : sections) {
        const std::string lines = section_of(section, of);
        if (lines.empty()) {
            continue;
        }
        made += '\n' + heading_of(section) + '\n';
        if (section == "outbox") {
            for (const std::string& note : of.notes) {
                made += comment(note);
            }
        }
        made += lines;
    }
    return made;
}

std::string toml_text(std::string_view text) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string made = "\"";
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte < 0x20U || byte == 0x7fU) {
            made += {'\\', 'u', '0', '0', digits[byte >> 4U], digits[byte & 0xfU]};
        } else {
            made += c == '"' || c == '\\' ? std::string{'\\', c} : std::string{c};
        }
    }
    return made + '"';
}

std::string file_notation(const key& row, const std::string& flag_text) {
    const value_kind kind = row.takes.name;
    if (kind == value_kind::integer || kind == value_kind::boolean || kind == value_kind::table) {
        return flag_text;
    }
    if (kind != value_kind::text_list) {
        return toml_text(flag_text);
    }
    std::vector<std::string> elements;
    if (const auto list = read_list({"", plain_text{flag_text}})) {
        for (const value& each : *list) {
            elements.push_back(toml_text(*text_of(each)));
        }
    }
    return '[' + joined(elements) + ']';
}

}  // namespace walrelay::config
