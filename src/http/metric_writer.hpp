// Prometheus' text format, version 0.0.4: families of samples, written one after the other.
// Source: prometheus.io, "Exposition formats".
#pragma once

#include "core/latency_histogram.hpp"

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace walrelay::http {

class metric_writer {
public:
    using labels = std::initializer_list<std::pair<std::string_view, std::string_view>>;

    /// All samples that follow are of this family. `type` is counter, gauge or histogram.
    void family(std::string_view name, std::string_view type, std::string_view help);
    void sample(double value, labels with = {});
    void sample(std::uint64_t value, labels with = {});
    /// In seconds, as buckets, sum and count.
    void histogram(const latency_histogram& from);

    [[nodiscard]] std::string take() { return std::move(text_); }

private:
    void name(std::string_view suffix, labels with);

    std::string text_;
    std::string family_;
};

}  // namespace walrelay::http
