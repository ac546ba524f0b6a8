// docs/man/walrelay.toml.5 as the table of keys has it. Source of the notation: man(7),
// groff_man(7).
#pragma once

#include "unit/config/key_facts.hpp"

#include <string>
#include <string_view>

namespace walrelay::config {

/// Markdown as lines of roff: what stands between backquotes becomes bold.
inline std::string roff(std::string_view markdown) {
    std::string made;
    bool bold = false;
    for (const char c : markdown) {
        if (c == '`') {
            bold = !bold;
            made += bold ? "\\fB" : "\\fR";
        } else if (c == '\\') {
            made += "\\e";
        } else if (bold && c == '-') {
            made += "\\-";
        } else if (bold && (c == '\'' || c == '^' || c == '~')) {
            made += c == '\'' ? "\\(aq" : c == '^' ? "\\(ha" : "\\(ti";
        } else {
            made += c;
        }
    }
    // A line that begins with a dot or an apostrophe would be a request.
    const bool is_request = made.starts_with('.') || made.starts_with('\'');
    return (is_request ? "\\&" : "") + made + '\n';
}

inline std::string man_page_of(const key& row) {
    return ".TP\n.B " + std::string(row.name) + '\n' + roff(facts_of(row) + '.') + ".IP\n" +
           roff(row.documentation);
}

inline std::string man_page() {
    std::string made =
        ".\\\" Made from the table of keys; unit_tests say how to write it again.\n"
        ".TH WALRELAY.TOML 5 \"\" walrelay \"File formats\"\n.nh\n.ad l\n"
        ".SH NAME\nwalrelay.toml \\- configuration of walrelay\n"
        ".SH SYNOPSIS\n.B ./walrelay.toml\n.br\n.B /etc/walrelay/walrelay.toml\n"
        ".SH DESCRIPTION\n" +
        roff(
            "The configuration of walrelay, in TOML. `--config` names another file. Required are "
            "`conninfo` of [postgres] and `table` of one [[outbox]] section; every other key has a "
            "default or may be left out.") +
        ".PP\n" +
        roff(
            "A variable of the environment wins over the file, a flag over both. An unknown key, a "
            "value of the wrong type and one out of range are errors: all of them are told at "
            "once, "
            "and walrelay ends with exit code 2 before it talks to any server.") +
        ".PP\n" +
        roff(
            "A duration is an integer and one of `ms`, `s`, `m`, `h`, `d`; a byte size an integer "
            "and "
            "one of `B`, `kB`, `MB`, `GB` (powers of 1000), `KiB`, `MiB`, `GiB` (powers of 1024). "
            "Both "
            "are written in quotes. A variable or flag has the text without quotes, and a list "
            "with "
            "commas.");
    for (const std::string_view section : section_names) {
        made += ".SH \"" + heading_of(section) + "\"\n";
        for (const key& row : keys()) {
            made += row.section == section ? man_page_of(row) : "";
        }
    }
    made +=
        ".SH EXAMPLE\n.nf\n[postgres]\nconninfo = \"host=127.0.0.1 dbname=app user=walrelay\"\n\n"
        "[[outbox]]\ntable = \"public.outbox_events\"\n.fi\n"
        ".SH NOTES\n" +
        roff(
            "`walrelay config` prints a commented file to begin with, `walrelay config --check` "
            "says whether one can be used.");
    return made;
}

}  // namespace walrelay::config
