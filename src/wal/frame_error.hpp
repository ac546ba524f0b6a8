// The words of an error about bytes: what was read, which field, at which offset, and the remedy.
// It knows nothing of any protocol.
#pragma once

#include "core/error.hpp"

#include <cstddef>
#include <string_view>

namespace walrelay::wal {

/// Which field of which message an error is about.
struct place {
    /// What is being read, "pgoutput Begin message" for instance.
    std::string_view subject;
    std::string_view field;
    /// From the first byte of what was given to read.
    std::size_t offset_bytes = 0;
};

/// `what` becomes "<subject>: '<field>' at byte <offset> <why>". Without a remedy of its own the
/// error gets the one that fits bytes nobody can explain.
[[nodiscard]] error frame_error(errc code, const place& where, std::string_view why,
                                std::string_view remedy = {});

}  // namespace walrelay::wal
