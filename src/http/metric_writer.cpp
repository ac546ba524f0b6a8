#include "http/metric_writer.hpp"

#include <array>
#include <charconv>

namespace walrelay::http {
namespace {

constexpr double microseconds_in_a_second = 1e6;

/// The shortest text without an exponent that reads back as the same number.
std::string text_of(double value) {
    constexpr std::size_t longest = 400;
    std::array<char, longest> text{};
    const auto end =
        std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed);
    return {text.data(), end.ptr};
}

void append_escaped(std::string& to, std::string_view value) {
    for (const char each : value) {
        if (each == '\n') {
            to += "\\n";
            continue;
        }
        if (each == '\\' || each == '"') {
            to += '\\';
        }
        to += each;
    }
}

}  // namespace

void metric_writer::family(std::string_view name, std::string_view type, std::string_view help) {
    family_ = "walrelay_";
    if (name.starts_with("process_")) {
        family_.clear();  // standard names
    }
    family_ += name;
    const bool is_info = type == "info";
    if (format_ == metric_format::text) {
        describe(family_, is_info ? "gauge" : type, help);
        return;
    }
    // There the family has no suffix, which only its samples have.
    std::string_view family = family_;
    for (const std::string_view suffix : {"_total", "_info"}) {
        const bool has_it = suffix == "_total" ? type == "counter" : is_info;
        if (has_it && family.ends_with(suffix)) {
            family.remove_suffix(suffix.size());
        }
    }
    describe(family, type, help);
    for (const std::string_view unit : {"seconds", "bytes"}) {
        if (family.ends_with("_" + std::string(unit))) {
            text_.append("# UNIT ").append(family).append(" ").append(unit).append("\n");
        }
    }
}

void metric_writer::describe(std::string_view family, std::string_view type,
                             std::string_view help) {
    text_.append("# HELP ").append(family).append(" ").append(help).append("\n");
    text_.append("# TYPE ").append(family).append(" ").append(type).append("\n");
}

void metric_writer::name(std::string_view suffix, labels with) {
    text_.append(family_).append(suffix);
    char before = '{';
    for (const auto& [label, value] : with) {
        text_ += before;
        text_.append(label).append("=\"");
        append_escaped(text_, value);
        text_ += '"';
        before = ',';
    }
    text_.append(before == ',' ? "} " : " ");
}

void metric_writer::sample(double value, labels with) {
    name("", with);
    text_.append(text_of(value)).append("\n");
}

void metric_writer::sample(std::uint64_t value, labels with) {
    name("", with);
    text_.append(std::to_string(value)).append("\n");
}

std::string metric_writer::bound_text(std::size_t range) const {
    if (range == latency_histogram::bounds_microseconds.size()) {
        return "+Inf";
    }
    auto text = text_of(static_cast<double>(latency_histogram::bounds_microseconds[range]) /
                        microseconds_in_a_second);
    // OpenMetrics writes a bound as a number with a fraction.
    const bool is_whole = text.find('.') == std::string::npos;
    return format_ == metric_format::openmetrics && is_whole ? text + ".0" : text;
}

void metric_writer::append(const exemplar& one) {
    const auto since_epoch = one.at.time_since_epoch();
    text_.append(" # {trace_id=\"");
    append_escaped(text_, one.trace_id);
    text_.append("\"} ").append(text_of(std::chrono::duration<double>(one.value).count()));
    text_.append(" ").append(text_of(std::chrono::duration<double>(since_epoch).count()));
}

void metric_writer::histogram(const latency_histogram& from, const std::optional<exemplar>& one) {
    std::uint64_t so_far = 0;
    const bool has_exemplar = one && format_ == metric_format::openmetrics;
    const auto its_range =
        has_exemplar ? latency_histogram::range_of(one->value) : latency_histogram::range_count;
    for (std::size_t range = 0; range < from.counts().size(); ++range) {
        so_far += from.counts()[range];
        name("_bucket", {{"le", bound_text(range)}});
        text_.append(std::to_string(so_far));
        if (range == its_range) {
            append(*one);
        }
        text_.append("\n");
    }
    name("_sum", {});
    text_.append(text_of(static_cast<double>(from.sum_microseconds()) / microseconds_in_a_second))
        .append("\n");
    name("_count", {});
    text_.append(std::to_string(so_far)).append("\n");
}

std::string metric_writer::take() {
    if (format_ == metric_format::openmetrics) {
        text_.append("# EOF\n");
    }
    return std::move(text_);
}

}  // namespace walrelay::http
