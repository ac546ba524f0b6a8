// Colour in what people read: the word that says how things are, where a terminal is.
#pragma once

#include <string>
#include <string_view>

namespace walrelay::app {

/// Whether standard output is a terminal that shows colour, and nobody has asked for none: NO_COLOR
/// (no-color.org) is not set, or empty.
[[nodiscard]] bool output_has_colour();

/// `text` with the word coloured that begins a line and says how things are: ok, note, warning,
/// error, the findings of verify, the states of a relay.
[[nodiscard]] std::string coloured(std::string_view text);

/// The same where standard output has colour, else `text` as it is.
[[nodiscard]] std::string for_output(std::string text);

}  // namespace walrelay::app
