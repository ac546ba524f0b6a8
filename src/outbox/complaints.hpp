// What can be wrong with a value, to follow the name of its column in a sentence.
#pragma once

#include <string_view>

namespace walrelay::outbox::complaint {

inline constexpr std::string_view not_hexadecimal =
    "is a bytea, but what was read are not pairs of hexadecimal digits";
inline constexpr std::string_view not_boolean =
    "is a boolean, but what was read is neither t nor f";
inline constexpr std::string_view not_rfc3339 =
    "cannot be written as RFC 3339, which knows the years 1 to 9999 and no infinity";
inline constexpr std::string_view not_int64 =
    "is not an integer of 64 bits, which the version of a protobuf body has to be";

}  // namespace walrelay::outbox::complaint
