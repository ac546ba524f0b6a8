#include "harness/results.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace walrelay::bench {
namespace {

spread spread_of(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    const auto half = values.size() / 2;
    const bool odd = values.size() % 2 == 1;
    return {.median = odd ? values[half] : (values[half - 1] + values[half]) / 2,
            .least = values.front(),
            .most = values.back(),
            .repetitions = values.size()};
}

}  // namespace

void results::add(const place& where, const std::string& metric, double value) {
    if (!values_.contains(where)) {
        order_.push_back(where);
    }
    values_[where][metric].push_back(value);
}

void results::note(const std::string& sentence) {
    if (std::find(notes_.begin(), notes_.end(), sentence) == notes_.end()) {
        notes_.push_back(sentence);
    }
}

std::vector<place> results::places(const std::string& part) const {
    std::vector<place> chosen;
    std::copy_if(order_.begin(), order_.end(), std::back_inserter(chosen),
                 [&](const place& each) { return each.part == part; });
    return chosen;
}

std::vector<std::string> results::parts() const {
    std::vector<std::string> names;
    for (const auto& each : order_) {
        if (std::find(names.begin(), names.end(), each.part) == names.end()) {
            names.push_back(each.part);
        }
    }
    return names;
}

std::optional<spread> results::of(const place& where, const std::string& metric) const {
    const auto metrics = values_.find(where);
    if (metrics == values_.end()) {
        return std::nullopt;
    }
    const auto values = metrics->second.find(metric);
    if (values == metrics->second.end()) {
        return std::nullopt;
    }
    return spread_of(values->second);
}

nlohmann::ordered_json results::to_json() const {
    auto list = nlohmann::ordered_json::array();
    for (const auto& where : order_) {
        auto metrics = nlohmann::ordered_json::object();
        for (const auto& [name, values] : values_.at(where)) {
            const auto all = spread_of(values);
            metrics[name] = {
                {"median", all.median}, {"min", all.least}, {"max", all.most}, {"values", values}};
        }
        list.push_back({{"part", where.part},
                        {"case", where.scenario},
                        {"contender", where.contender},
                        {"metrics", std::move(metrics)}});
    }
    return list;
}

void results::add_json(const nlohmann::ordered_json& figures) {
    for (const auto& each : figures) {
        const place where{each.at("part"), each.at("case"), each.at("contender")};
        for (const auto& [name, values] : each.at("metrics").items()) {
            for (const double value : values.at("values")) {
                add(where, name, value);
            }
        }
    }
}

}  // namespace walrelay::bench
