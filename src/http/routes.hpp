// What is answered to a request: pure, from the path and what the relay says of itself.
#pragma once

#include "http/metric_writer.hpp"
#include "http/report.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace walrelay::http {

struct answer {
    unsigned status = 0;
    std::string_view content_type = {};
    std::string body = {};
};

/// Asked for when a request needs it, on the relay's thread. Neither asks a server for anything.
struct report_source {
    std::function<relay_report()> report;
    std::function<std::vector<sample>()> history;
    /// Cheap. Another number whenever the state of the relay or of its connections is another one.
    std::function<std::uint64_t()> state = [] { return 0; };
};

/// `target` is that of the request line; what follows a `?` is of no interest. `format` is that of
/// the metrics.
[[nodiscard]] answer answer_to(std::string_view target, const report_source& from,
                               metric_format format = metric_format::text);

/// What the header `Accept` wants the metrics in: OpenMetrics only where it is named, and text is
/// not liked better (RFC 9110, 12.5.1).
[[nodiscard]] metric_format format_wanted(std::string_view accept);

/// Whether the header `Host` names an IP address, localhost or one of `names`: whoever has made a
/// name of his own point to this machine is not let in (DNS rebinding).
[[nodiscard]] bool is_known_host(std::string_view host, const std::vector<std::string>& names);

}  // namespace walrelay::http
