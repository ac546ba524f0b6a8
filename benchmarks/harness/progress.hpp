// Lines for people who watch a run, on stderr; the figures themselves go to stdout.
#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <utility>

namespace walrelay::bench {

template <class... Values>
void say(fmt::format_string<Values...> text, Values&&... values) {
    fmt::print(stderr, "{}\n", fmt::format(text, std::forward<Values>(values)...));
}

}  // namespace walrelay::bench
