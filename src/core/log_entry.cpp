#include "core/log_entry.hpp"

#include "core/one_line.hpp"

namespace walrelay {
namespace {

constexpr std::size_t sentence_bytes_max = 4096;
constexpr std::size_t value_bytes_max = 512;

}  // namespace

log_entry::log_entry(const log_event& event, std::string text, std::vector<log_field> fields)
    : event_(&event), text_(one_line(text, sentence_bytes_max)), fields_(std::move(fields)) {
    for (auto& each : fields_) {
        if (auto* const value = std::get_if<std::string>(&each.value)) {
            *value = one_line(*value, value_bytes_max);
        }
    }
}

log_entry log_entry::repeated(std::uint64_t times, std::chrono::milliseconds span) const {
    auto line = *this;
    const auto seconds = std::chrono::round<std::chrono::seconds>(span).count();
    line.text_ = "again, " + std::to_string(times) + (times == 1 ? " time in " : " times in ") +
                 std::to_string(seconds) + " s: " + text_;
    line.fields_.push_back({repeat_fields[0], times});
    line.fields_.push_back({repeat_fields[1], log_values::of(span)});
    return line;
}

}  // namespace walrelay
