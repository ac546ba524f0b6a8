// The pgoutput messages that are not relayed. They are read to their end all the same: a message
// that only claims to be one of them means that the stream is not what it seems.
#pragma once

#include "core/error.hpp"
#include "wal/byte_reader.hpp"

#include <cstdint>

namespace walrelay::wal {

/// Whether a message of this type may only stand inside a transaction.
[[nodiscard]] bool needs_transaction(std::uint8_t type);

/// Reads the rest of an Update, Delete, Truncate, Type or Origin. Any other type is an
/// error. Errors: frame_truncated, frame_malformed, frame_unexpected.
[[nodiscard]] result<void> read_skipped(std::uint8_t type, byte_reader& in);

}  // namespace walrelay::wal
