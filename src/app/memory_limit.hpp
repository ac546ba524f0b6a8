// How much memory this process may have before the kernel ends it, and which rows fit.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

namespace walrelay::app {

/// The lowest memory.max of the control groups that the process is in, in bytes; of version 1
/// memory.limit_in_bytes. Nothing where there is no limit, or none can be read. `root` stands
/// before /proc and /sys. Source: Linux, Documentation/admin-guide/cgroup-v2.rst, "Memory".
[[nodiscard]] std::optional<std::uint64_t> memory_limit(const std::filesystem::path& root = "/");

/// The largest row, as the WAL has it, whose content can be kept within `limit` bytes while a
/// window of `window_bytes` is full: libpq, the decoder and a dead letter hold it up to eight times
/// (docs/sizing.md). At least 8 MiB, the largest message that NATS advises: what can be published
/// is not set aside.
[[nodiscard]] std::uint64_t largest_row_within(std::uint64_t limit, std::uint64_t window_bytes);

/// The limit within which a row that is published however low the limit is (8 MiB) fits three times
/// beside a full window, as it is held where it becomes a message.
[[nodiscard]] std::uint64_t least_limit(std::uint64_t window_bytes);

/// The limit within which a row of `row_bytes` fits.
[[nodiscard]] std::uint64_t limit_for(std::uint64_t row_bytes, std::uint64_t window_bytes);

}  // namespace walrelay::app
