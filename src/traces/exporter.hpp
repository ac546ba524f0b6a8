// Sends spans to a collector (docs/adr/0021-spans-of-our-own.md), on a thread of its own: looking
// up a name, TLS and a slow collector cost the relay nothing. What does not get through is counted
// and given up.
#pragma once

#include "core/acked_message.hpp"
#include "core/collector_url.hpp"
#include "core/log_entry.hpp"
#include "core/trace_counts.hpp"
#include "traces/collector_link.hpp"
#include "traces/otlp_json.hpp"
#include "traces/span_queue.hpp"

#include <memory>
#include <optional>
#include <random>
#include <thread>

namespace walrelay::traces {

class exporter final : public ack_observer {
public:
    exporter(collector_url where, header_list headers, origin of);
    exporter(const exporter&) = delete;
    exporter& operator=(const exporter&) = delete;
    ~exporter();

    void acked(const acked_message& what) noexcept override;
    [[nodiscard]] trace_counts counts() const;
    /// The line that is due: that spans do not get through, or that they do again.
    [[nodiscard]] std::optional<log_entry> line_due();
    /// Sends what is left, for a second at most. Nothing is taken any more.
    void stop();

private:
    struct state;

    std::shared_ptr<state> state_;
    std::mt19937_64 random_;
    bool has_told_ = false;
    std::thread thread_;
};

}  // namespace walrelay::traces
