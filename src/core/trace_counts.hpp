// What has become of the spans of a process. Plain data.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace walrelay {

enum class trace_result {
    /// The collector has taken them.
    exported,
    /// There was no room for more that wait.
    dropped,
    /// The collector did not take them, or could not be reached.
    failed,
};
inline constexpr std::size_t trace_result_count = 3;

[[nodiscard]] constexpr const char* to_string(trace_result what) {
    switch (what) {
        case trace_result::exported:
            return "exported";
        case trace_result::dropped:
            return "dropped";
        case trace_result::failed:
            break;
    }
    return "failed";
}

using trace_counts = std::array<std::uint64_t, trace_result_count>;

}  // namespace walrelay
