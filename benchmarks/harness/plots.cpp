#include "harness/plots.hpp"

#include "support/child_process.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <stdexcept>
#include <vector>

namespace walrelay::bench {
namespace {

struct chart {
    std::string part;
    std::string metric;
    std::string title;
    bool logarithmic = false;
};

const std::vector<chart>& charts() {
    static const std::vector<chart> all = {
        {"drain", "rows_per_second", "Drain of a backlog, rows/s"},
        {"drain", "of_limit", "Drain of a backlog by the limit"},
        {"drain", "relay_cpu_microseconds", "Processor time of the relay, us an event"},
        {"drain", "peak_mib", "Peak resident memory of the relay, MiB"},
        {"growth", "rows_per_second", "Drain by size of the backlog, rows/s"},
        {"latency", "p50_microseconds", "Commit to ack, median, us", true},
        {"latency", "p99_microseconds", "Commit to ack, 99th percentile, us", true},
        {"cost", "insert_rows_per_second", "What is left to writers, inserts/s"},
        {"cost", "statements_per_second", "Statements that the database has to serve, 1/s"},
        {"restart", "seconds", "Restart behind rows that the stream has, s"},
        {"peers", "rows_per_second", "Drain of a backlog, rows/s", true},
        {"peers", "p50_microseconds", "Commit to ack, median, us", true},
        {"peers", "relay_cpu_microseconds", "Processor time, us an event", true},
        {"peers", "statements_per_second", "Statements that the database has to serve, 1/s"}};
    return all;
}

/// The different values of one member of the places that have the metric, in their order.
std::vector<std::string> distinct(const results& from, const chart& what,
                                  std::string place::*member) {
    std::vector<std::string> names;
    for (const auto& where : from.places(what.part)) {
        if (from.of(where, what.metric) &&
            std::find(names.begin(), names.end(), where.*member) == names.end()) {
            names.push_back(where.*member);
        }
    }
    return names;
}

void require_written(std::ofstream& out, const std::filesystem::path& file) {
    if (!out.flush()) {
        throw std::runtime_error("cannot write " + file.string());
    }
}

/// A line for each scenario: its name, then median, least and most of each contender.
void write_data(const results& from, const chart& what, const std::filesystem::path& file) {
    std::ofstream out(file);
    const auto contenders = distinct(from, what, &place::contender);
    for (const auto& scenario : distinct(from, what, &place::scenario)) {
        out << '"' << scenario << '"';
        for (const auto& who : contenders) {
            const auto value = from.of({what.part, scenario, who}, what.metric);
            out << (value ? fmt::format(" {} {} {}", value->median, value->least, value->most)
                          : " ? ? ?");
        }
        out << '\n';
    }
    require_written(out, file);
}

void write_script(const results& from, const chart& what, const std::filesystem::path& data,
                  const std::filesystem::path& picture, const std::filesystem::path& file) {
    const auto contenders = distinct(from, what, &place::contender);
    const auto groups = distinct(from, what, &place::scenario).size();
    std::ofstream out(file);
    out << fmt::format(
        "set terminal svg size {},520 noenhanced background 'white' font 'sans-serif,13'\n"
        "set output '{}'\nset title '{}'\nset style data histograms\n"
        "set style histogram errorbars gap 1 lw 1\nset style fill solid 0.8 border -1\n"
        "set datafile missing '?'\nset key outside right top\nset grid ytics\n"
        "set xtics rotate by -20\n{}\nplot ",
        std::max<std::size_t>(800, 120 * groups + 400), picture.string(), what.title,
        what.logarithmic ? "set logscale y" : "set yrange [0:*]");
    for (std::size_t index = 0; index < contenders.size(); ++index) {
        const auto column = 2 + 3 * index;
        out << fmt::format("{}'{}' using {}:{}:{}:xtic(1) title '{}'", index == 0 ? "" : ", ",
                           data.string(), column, column + 1, column + 2, contenders[index]);
    }
    out << '\n';
    require_written(out, file);
}

}  // namespace

void draw(const results& from, const std::filesystem::path& folder) {
    std::filesystem::create_directories(folder);
    for (const auto& what : charts()) {
        if (distinct(from, what, &place::contender).empty()) {
            continue;
        }
        const auto base = (folder / (what.part + "-" + what.metric)).string();
        write_data(from, what, base + ".dat");
        write_script(from, what, base + ".dat", base + ".svg", base + ".gnuplot");
        test::run_to_success({.program = "gnuplot",
                              .arguments = {base + ".gnuplot"},
                              .folder = folder,
                              .name = "gnuplot"},
                             std::chrono::seconds(60));
    }
    std::filesystem::remove(folder / "gnuplot.stdout");
    std::filesystem::remove(folder / "gnuplot.stderr");
}

}  // namespace walrelay::bench
