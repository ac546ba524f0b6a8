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
    text_.append("# HELP ").append(family_).append(" ").append(help).append("\n");
    text_.append("# TYPE ").append(family_).append(" ").append(type).append("\n");
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

void metric_writer::histogram(const latency_histogram& from) {
    std::uint64_t so_far = 0;
    for (std::size_t range = 0; range < from.counts().size(); ++range) {
        so_far += from.counts()[range];
        const bool is_last = range == latency_histogram::bounds_microseconds.size();
        const auto bound =
            is_last ? "+Inf"
                    : text_of(static_cast<double>(latency_histogram::bounds_microseconds[range]) /
                              microseconds_in_a_second);
        name("_bucket", {{"le", bound}});
        text_.append(std::to_string(so_far)).append("\n");
    }
    name("_sum", {});
    text_.append(text_of(static_cast<double>(from.sum_microseconds()) / microseconds_in_a_second))
        .append("\n");
    name("_count", {});
    text_.append(std::to_string(so_far)).append("\n");
}

}  // namespace walrelay::http
