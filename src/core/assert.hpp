// Assertions for errors of the programmer. They stay on in release builds: a relay that stops keeps
// its data in the slot, one that goes on with a broken invariant may lose it. Never used on bytes
// that come from outside.
#pragma once

#include <cstdio>
#include <cstdlib>

namespace walrelay::detail {

[[noreturn]] inline void assertion_failed(const char* condition, const char* file, int line) {
    std::fprintf(stderr,
                 "walrelay: broken invariant: %s (%s:%d); stopping, the slot keeps the data\n",
                 condition, file, line);
    std::abort();
}

}  // namespace walrelay::detail

#define WALRELAY_ASSERT(condition) \
    ((condition) ? void(0) : ::walrelay::detail::assertion_failed(#condition, __FILE__, __LINE__))
