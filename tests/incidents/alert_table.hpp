// Which of the alerts that are shipped fire while a relay says what it says now: by their own rules
// and times, as promtool evaluates them, without waiting for the times to pass.
#pragma once

#include <filesystem>
#include <set>
#include <string>

namespace walrelay::test {

class alert_table {
public:
    /// The longest `for` is an hour, and WalrelayCleanupBehind begins after a day.
    static constexpr int hours = 30;

    /// Of the rules in `rules`; the file of a test is written into `folder`.
    alert_table(std::filesystem::path rules, std::filesystem::path folder)
        : rules_(std::move(rules)), folder_(std::move(folder)) {}

    /// Two answers of /metrics, so many seconds from each other: what has grown in between is taken
    /// to grow on, for longer than every alert waits.
    void says(const std::string& first, const std::string& second, double seconds);

    /// One answer, and none after it.
    void falls_silent(const std::string& last);

    /// Empty where these alerts fire in the end and no others; else what promtool says.
    [[nodiscard]] std::string differs_from(const std::set<std::string>& expected) const;

private:
    std::filesystem::path rules_;
    std::filesystem::path folder_;
    std::string series_;
    /// When it is asked what fires.
    int hours_ = hours;
};

}  // namespace walrelay::test
