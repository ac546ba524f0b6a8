// Reads a file that a configuration names, and that can turn out to be anything: a pipe at whose
// other end nobody writes, a device, a directory, more than memory holds. None of them holds the
// reader up.
#pragma once

#include <boost/system/result.hpp>

#include <cstddef>
#include <string>
#include <utility>

namespace walrelay::files {

struct unreadable {
    enum class reason {
        by_itself,  // it is not there, no ordinary file, or too large
        is_public,  // every user of this machine can read it
    };
    unreadable() = default;
    unreadable(reason because, std::string words) : of(because), why(std::move(words)) {}

    reason of = reason::by_itself;
    /// For people: "it is a pipe, not an ordinary file".
    std::string why;
};

template <class Value>
using reading = boost::system::result<Value, unreadable>;

/// All of an ordinary file that has no more than so many bytes.
[[nodiscard]] reading<std::string> read_ordinary(const std::string& file, std::size_t bytes_max);

/// The same of a secret: a password, a token, a key. At most 64 KiB, and not for everybody to read.
[[nodiscard]] reading<std::string> read_secret(const std::string& file);

/// Whether every user of this machine can read it; false where it is not there.
[[nodiscard]] bool is_public(const std::string& file);

}  // namespace walrelay::files
