// Under which names the columns of well-known outbox tables play their roles. Pure tables of words.
#pragma once

#include "core/column_role.hpp"

#include <span>
#include <string_view>

namespace walrelay::outbox {

/// As of folded_name (core/nearest.hpp), the likeliest first.
[[nodiscard]] std::span<const std::string_view> names_of(column_role role);

/// Columns that say whether a row is sent: by a word, by yes or no, or by the time when it was.
[[nodiscard]] std::span<const std::string_view> status_names();
[[nodiscard]] std::span<const std::string_view> flag_names();
[[nodiscard]] std::span<const std::string_view> time_names();
/// A time after which a row is not sent any more.
[[nodiscard]] std::span<const std::string_view> given_up_names();
/// The words of a status that mean that a row is sent, in lower case.
[[nodiscard]] std::span<const std::string_view> sent_words();
/// And those that mean that it is to be sent.
[[nodiscard]] std::span<const std::string_view> pending_words();

}  // namespace walrelay::outbox
