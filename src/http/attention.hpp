// What in the figures of a relay needs somebody. The page and `walrelay status` show this list, so
// that neither is silent where an alert fires; the state with its reason, its lag and the findings
// stand on their own in /status and are not in it.
#pragma once

#include "http/report.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace walrelay::http {

struct attention {
    /// Which alert fires for it (monitoring/alerts.yaml), now or if it goes on.
    std::string_view alert = {};
    /// What is, what it means for the rows, and what to do about it.
    std::string what = {};
    /// Looks, and changes nothing.
    std::string_view command = {};
};

[[nodiscard]] std::vector<attention> attention_for(const relay_report& of);

}  // namespace walrelay::http
