// What a value means where a key of a certain kind asks for it. The same functions serve TOML and
// the text of variables and flags.
#pragma once

#include "config/value.hpp"
#include "core/byte_size.hpp"

#include <boost/system/result.hpp>

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace walrelay::config {

/// What is wrong with a value and how to fix it; who knows the key makes a `problem` of it.
struct complaint {
    // A plain aggregate could be made from one string, and then a result<std::string> of this error
    // would not know which of the two a string is.
    complaint() = default;
    complaint(std::string wrong, std::string fix)
        : what(std::move(wrong)), remedy(std::move(fix)) {}

    std::string what;
    std::string remedy;

    friend bool operator==(const complaint&, const complaint&) = default;
};

template <class Value>
using read_result = boost::system::result<Value, complaint>;

/// Both ends are allowed.
template <class Value>
struct bounds {
    Value least;
    Value most;
};

[[nodiscard]] read_result<std::string> read_text(const value& of);
[[nodiscard]] read_result<bool> read_boolean(const value& of);
[[nodiscard]] read_result<std::int64_t> read_integer(const value& of, bounds<std::int64_t> allowed);

/// An integer and one of ms, s, m, h, d. At most 365d, so that sums of times cannot overflow.
[[nodiscard]] read_result<std::chrono::milliseconds> read_duration(const value& of,
                                                                   std::chrono::milliseconds least);

/// An integer and one of B, kB, MB, GB (powers of 1000), KiB, MiB, GiB (powers of 1024).
[[nodiscard]] read_result<byte_size> read_size(const value& of, bounds<byte_size> allowed);

/// The elements of a TOML list, or of a text at its commas (blanks around them are dropped).
[[nodiscard]] read_result<value_list> read_list(const value& of);

/// As it would stand in the file, in the largest unit that fits.
[[nodiscard]] std::string show(std::chrono::milliseconds duration);
[[nodiscard]] std::string show(byte_size size);

/// "expected a boolean, found a string".
[[nodiscard]] complaint expected(std::string_view kind, const value& found, std::string remedy);

}  // namespace walrelay::config
