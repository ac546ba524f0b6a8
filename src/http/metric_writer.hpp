// Families of samples, written one after the other, in Prometheus' text format, version 0.0.4, or
// in OpenMetrics 1.0. Sources: prometheus.io, "Exposition formats"; the specification of
// OpenMetrics.
#pragma once

#include "core/change.hpp"
#include "core/latency_histogram.hpp"

#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace walrelay::http {

enum class metric_format { text, openmetrics };

/// One of the values of a histogram, with the trace that it belongs to. Only OpenMetrics has them.
struct exemplar {
    std::chrono::microseconds value{0};
    std::string trace_id;
    wall_time at;
};

class metric_writer {
public:
    explicit metric_writer(metric_format format = metric_format::text) : format_(format) {}

    using labels = std::initializer_list<std::pair<std::string_view, std::string_view>>;

    /// All samples that follow are of this family. `type` is counter, of which the name ends with
    /// _total, info, of which it ends with info, gauge or histogram.
    void family(std::string_view name, std::string_view type, std::string_view help);
    void sample(double value, labels with = {});
    void sample(std::uint64_t value, labels with = {});
    /// In seconds, as buckets, sum and count.
    void histogram(const latency_histogram& from, const std::optional<exemplar>& one = {});

    /// Nothing follows.
    [[nodiscard]] std::string take();

private:
    void name(std::string_view suffix, labels with);
    void describe(std::string_view family, std::string_view type, std::string_view help);
    [[nodiscard]] std::string bound_text(std::size_t range) const;
    void append(const exemplar& one);

    metric_format format_;
    std::string text_;
    std::string family_;
};

}  // namespace walrelay::http
