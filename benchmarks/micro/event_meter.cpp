#include "event_meter.hpp"

namespace walrelay::bench {

event_meter::~event_meter() {
    const auto events = static_cast<double>(events_);
    state_.counters["time_per_event"] =
        benchmark::Counter(events, benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
    state_.counters["allocations_per_event"] = static_cast<double>(taken_.count) / events;
    state_.counters["allocated_bytes_per_event"] = static_cast<double>(taken_.bytes) / events;
}

}  // namespace walrelay::bench
