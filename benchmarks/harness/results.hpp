// The figures of a run: one value for each part, case, contender, repetition and metric. Knows
// nothing of what is measured.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace walrelay::bench {

/// What a figure is about. `part` is what the command line calls it, `scenario` the load in words,
/// `contender` what was measured under it.
struct place {
    std::string part;
    std::string scenario;
    std::string contender;

    friend auto operator<=>(const place&, const place&) = default;
};

struct spread {
    double median = 0;
    double least = 0;
    double most = 0;
    std::size_t repetitions = 0;
};

class results {
public:
    /// One repetition's value; the unit is the last word of the metric's name.
    void add(const place& where, const std::string& metric, double value);
    /// A sentence for the reader of the figures, such as why a contender is not among them.
    void note(const std::string& sentence);

    /// In the order in which they were first seen.
    [[nodiscard]] std::vector<place> places(const std::string& part) const;
    [[nodiscard]] std::vector<std::string> parts() const;
    [[nodiscard]] std::optional<spread> of(const place& where, const std::string& metric) const;
    [[nodiscard]] const std::vector<std::string>& notes() const { return notes_; }

    /// Every value and its spread.
    [[nodiscard]] nlohmann::ordered_json to_json() const;
    /// Adds the values that `to_json` of another run has given, as more repetitions of the same.
    /// Throws nlohmann::json::exception.
    void add_json(const nlohmann::ordered_json& figures);

    /// To be called whenever `end_repetition` is: a full run is long, and what is done can be kept.
    void on_repetition(std::function<void()> what) { on_repetition_ = std::move(what); }
    void end_repetition() const {
        if (on_repetition_) {
            on_repetition_();
        }
    }

private:
    using values_of_metrics = std::map<std::string, std::vector<double>>;

    std::vector<place> order_;
    std::map<place, values_of_metrics> values_;
    std::vector<std::string> notes_;
    std::function<void()> on_repetition_;
};

/// What walrelay's contenders are called, and what they are measured against.
[[nodiscard]] inline std::string relay_name(const std::string& plugin) {
    return "walrelay " + plugin;
}
[[nodiscard]] inline std::string limit_name(const std::string& plugin) {
    return "limit " + plugin;
}
[[nodiscard]] inline std::string floor_name(const std::string& plugin) {
    return "floor " + plugin;
}

}  // namespace walrelay::bench
