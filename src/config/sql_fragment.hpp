// SQL of the configuration that becomes part of walrelay's own statements: a predicate or a SET
// list. What is checked is that it stays a part, which the server cannot know; whether it means
// something is for the server to say.
#pragma once

#include "config/read.hpp"

#include <optional>
#include <string>

namespace walrelay::config {

/// Empty is nothing at all, and right. Source of the lexical rules: PostgreSQL documentation,
/// "Lexical Structure". Refused outside of quotes: semicolons, comments, parameters and
/// dollar-quoted texts; anywhere: quotes and parentheses that are left open or close too much.
[[nodiscard]] std::optional<complaint> check_predicate(const std::string& text);

/// The same for a SET list; braces outside of quotes are refused.
[[nodiscard]] std::optional<complaint> check_set_list(const std::string& text);

/// A SET list that may hold `{error}` and `{attempts}` outside of quotes.
[[nodiscard]] std::optional<complaint> check_dead_letter_set_list(const std::string& text);

}  // namespace walrelay::config
