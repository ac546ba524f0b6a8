#include "app/slow_messages.hpp"

#include "core/one_line.hpp"
#include "core/position.hpp"

#include <fmt/format.h>

namespace walrelay::app {
namespace {

constexpr std::chrono::minutes between_slow_lines{1};
constexpr std::size_t named_bytes_max = 200;

}  // namespace

std::optional<log_entry> slow_messages::line_at(const relay_status& status, instant now) {
    const auto& slow = status.slowest;
    if (threshold_ <= std::chrono::milliseconds(0) || !slow || slow->took < threshold_ ||
        slow->stored_at - slow->took < started_ || slow->stored_at <= said_of_ ||
        (said_at_ && now.monotonic - *said_at_ < between_slow_lines)) {
        return std::nullopt;
    }
    said_at_ = now.monotonic;
    said_of_ = slow->stored_at;
    const auto id = one_line(slow->id, named_bytes_max);
    const auto subject = one_line(slow->subject, named_bytes_max);
    const auto where = to_string(slow->where);
    const auto trace = one_line(slow->trace, named_bytes_max);
    return log_entry::of<"message_slow">(
        fmt::format("a message took {:.3f} s from commit to ack: id {}, subject {}, position {}{}",
                    std::chrono::duration<double>(slow->took).count(), id, subject, where,
                    trace.empty() ? "" : ", traceparent " + trace),
        with<"seconds">(slow->took), with<"id">(id), with<"subject">(subject),
        with<"position">(where),
        with<"traceparent">(trace.empty() ? std::nullopt : std::optional(trace)));
}

}  // namespace walrelay::app
