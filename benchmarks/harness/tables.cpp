#include "harness/tables.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <vector>

namespace walrelay::bench {
namespace {

struct column {
    std::string metric;
    std::string title;
    int decimals = 0;
    bool with_range = false;
};

const std::vector<column>& columns_of(const std::string& part) {
    static const std::vector<column> drain = {
        {"rows_per_second", "rows/s", 0, true},
        {"of_limit", "of limit", 2, true},
        {"of_bare_limit", "of bare limit", 2, true},
        {"of_smallest", "of smallest", 2, true},
        {"of_first", "of walrelay", 3, true},
        {"decoder_rows_per_second", "decoder rows/s"},
        {"publisher_rows_per_second", "publisher rows/s"},
        {"relay_cpu_microseconds", "CPU us/event", 2},
        {"sender_cpu_microseconds", "walsender us", 2},
        {"broker_cpu_microseconds", "broker us", 2},
        {"broker_of_limit", "broker of limit", 2, true},
        {"broker_of_first", "broker of walrelay", 3, true},
        {"scrapes_per_second", "scrapes/s", 0},
        {"longest_scrape_milliseconds", "longest scrape ms", 1},
        {"first_message_seconds", "first after s", 3},
        {"peak_mib", "peak MiB", 1}};
    static const std::vector<column> latency = {{"p50_microseconds", "p50 us", 0, true},
                                                {"p99_microseconds", "p99 us", 0, true},
                                                {"p999_microseconds", "p99.9 us"},
                                                {"max_microseconds", "max us"},
                                                {"p50_of_floor", "p50 of floor", 2, true},
                                                {"p99_of_floor", "p99 of floor", 2, true},
                                                {"row_seen_p50_microseconds", "row seen p50"},
                                                {"round_trip_p50_microseconds", "round trip p50"},
                                                {"relay_cpu_microseconds", "CPU us/event", 1},
                                                {"written_rows_per_second", "written rows/s"},
                                                {"acked_share", "acked", 3}};
    static const std::vector<column> peers = {{"rows_per_second", "rows/s", 0, true},
                                              {"p50_microseconds", "p50 us", 0, true},
                                              {"p99_microseconds", "p99 us", 0, true},
                                              {"of_best_npm", "of best npm", 1, true},
                                              {"of_wal_listener", "of wal-listener", 1, true},
                                              {"below_polling", "poller 5 s takes times", 0},
                                              {"relay_cpu_microseconds", "CPU us/event", 1},
                                              {"statements_per_second", "statements/s", 1},
                                              {"peak_mib", "peak MiB", 1},
                                              {"acked_share", "acked", 3}};
    static const std::vector<column> cost = {{"insert_rows_per_second", "inserts/s", 0, true},
                                             {"of_undisturbed", "of no slot", 2, true},
                                             {"statements_per_second", "statements/s", 1, true},
                                             {"cpu_percent", "CPU %", 1}};
    static const std::vector<column> restart = {{"seconds", "seconds", 2, true},
                                                {"of_limit", "of limit", 2, true}};
    static const std::vector<column> replay = {
        {"rows_per_second", "rows/s", 0, true},
        {"of_drain", "of drain", 2, true},
        {"with_plan_rows_per_second", "with the plan rows/s"},
        {"p50_microseconds", "p50 us", 0, true},
        {"p99_microseconds", "p99 us", 0, true},
        {"p999_microseconds", "p99.9 us"},
        {"max_microseconds", "max us"},
        {"replayed_rows_per_second", "replayed rows/s", 0, true},
        {"written_rows_per_second", "written rows/s"}};
    static const std::vector<column> publish = {{"broker_cpu_microseconds", "broker us", 2},
                                                {"broker_of_first", "of the whole", 3, true},
                                                {"publisher_rows_per_second", "messages/s"},
                                                {"line_bytes", "bytes a publish"}};
    static const std::map<std::string, std::vector<column>> known = {
        {"drain", drain},   {"cluster", drain},   {"publish", publish}, {"growth", drain},
        {"scrapes", drain}, {"latency", latency}, {"cost", cost},       {"restart", restart},
        {"peers", peers},   {"replay", replay}};
    return known.at(part);
}

std::string cell(const results& from, const place& where, const column& what) {
    const auto found = from.of(where, what.metric);
    if (!found) {
        return "";
    }
    const auto number = [&](double value) { return fmt::format("{:.{}f}", value, what.decimals); };
    if (!what.with_range || found->repetitions == 1) {
        return number(found->median);
    }
    return fmt::format("{} ({}-{})", number(found->median), number(found->least),
                       number(found->most));
}

std::string aligned(const std::vector<table_row>& rows) {
    std::vector<std::size_t> widths(rows.front().size());
    for (const auto& each : rows) {
        for (std::size_t index = 0; index < each.size(); ++index) {
            widths[index] = std::max(widths[index], each[index].size());
        }
    }
    std::string text;
    for (const auto& each : rows) {
        for (std::size_t index = 0; index < each.size(); ++index) {
            // Names to the left, numbers to the right.
            text += index < 2 ? fmt::format("{:<{}}  ", each[index], widths[index])
                              : fmt::format("{:>{}}  ", each[index], widths[index]);
        }
        text.erase(text.find_last_not_of(' ') + 1);
        text += '\n';
    }
    return text;
}

std::string in_markdown(const std::vector<table_row>& rows) {
    const auto line = [](const table_row& cells) {
        return fmt::format("| {} |\n", fmt::join(cells, " | "));
    };
    table_row rule(rows.front().size(), "---:");
    std::fill_n(rule.begin(), std::min<std::size_t>(2, rule.size()), "---");
    auto text = line(rows.front()) + line(rule);
    for (auto each = rows.begin() + 1; each != rows.end(); ++each) {
        text += line(*each);
    }
    return text;
}

/// What belongs to one scenario side by side; scenarios in the order in which they came up.
std::vector<place> by_scenario(std::vector<place> places) {
    std::vector<std::string> order;
    for (const auto& each : places) {
        if (std::find(order.begin(), order.end(), each.scenario) == order.end()) {
            order.push_back(each.scenario);
        }
    }
    std::stable_sort(places.begin(), places.end(), [&](const place& left, const place& right) {
        return std::find(order.begin(), order.end(), left.scenario) <
               std::find(order.begin(), order.end(), right.scenario);
    });
    return places;
}

}  // namespace

std::string formatted(const std::vector<table_row>& rows, table_form form) {
    return form == table_form::text ? aligned(rows) : in_markdown(rows);
}

std::string table_of(const results& from, const std::string& part, table_form form) {
    const auto places = from.places(part);
    std::vector<column> used;
    for (const auto& each : columns_of(part)) {
        if (std::any_of(places.begin(), places.end(),
                        [&](const place& where) { return from.of(where, each.metric); })) {
            used.push_back(each);
        }
    }
    std::vector<table_row> rows = {{part, ""}};
    for (const auto& each : used) {
        rows.front().push_back(each.title);
    }
    std::string scenario;
    for (const auto& where : by_scenario(places)) {
        rows.push_back({where.scenario == scenario ? "" : where.scenario, where.contender});
        scenario = where.scenario;
        for (const auto& each : used) {
            rows.back().push_back(cell(from, where, each));
        }
    }
    return formatted(rows, form);
}

}  // namespace walrelay::bench
