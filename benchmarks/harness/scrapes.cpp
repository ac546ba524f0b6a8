#include "harness/scrapes.hpp"

#include "harness/drain.hpp"
#include "harness/progress.hpp"
#include "support/eventually.hpp"
#include "support/free_port.hpp"
#include "support/http_client.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <optional>
#include <system_error>
#include <thread>

namespace walrelay::bench {
namespace {

using clock_type = std::chrono::steady_clock;

/// Asks for /metrics over one connection, so and so often, while it lives.
class scraper {
public:
    scraper(std::uint16_t port, std::uint64_t per_second)
        : port_(port), between_(clock_type::duration(std::chrono::seconds(1)) / per_second) {}
    ~scraper() { end(); }
    scraper(const scraper&) = delete;
    scraper& operator=(const scraper&) = delete;

    void begin() {
        thread_ = std::thread([this] { work(); });
    }
    void end() {
        ending_ = true;
        if (thread_.joinable()) {
            thread_.join();
        }
    }

    /// Of what was answered, once it has ended.
    [[nodiscard]] double per_second() const {
        const std::chrono::duration<double> passed = last_ - first_;
        return passed.count() > 0 ? static_cast<double>(answered_) / passed.count() : 0;
    }
    [[nodiscard]] std::chrono::duration<double> longest() const { return longest_; }

private:
    void work() {
        while (!connect() && !ending_) {
        }
        for (auto due = clock_type::now(); !ending_; due += between_) {
            std::this_thread::sleep_until(due);
            if (!scrape()) {
                return;
            }
        }
    }

    /// The relay has just been started.
    bool connect() {
        return test::eventually(std::chrono::milliseconds(50), [this] {
            try {
                connection_.emplace(port_);
                return true;
            } catch (const std::system_error&) {
                return false;
            }
        });
    }

    bool scrape() {
        const auto asked = clock_type::now();
        if (!connection_->send("GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n")) {
            return false;
        }
        const auto answer = connection_->read();
        if (!answer || answer->status != 200) {
            return false;
        }
        last_ = clock_type::now();
        first_ = answered_ == 0 ? asked : first_;
        longest_ = std::max<std::chrono::duration<double>>(longest_, last_ - asked);
        ++answered_;
        return true;
    }

    std::uint16_t port_;
    clock_type::duration between_;
    std::optional<test::http_connection> connection_;
    std::uint64_t answered_ = 0;
    clock_type::time_point first_;
    clock_type::time_point last_;
    std::chrono::duration<double> longest_{0};
    std::atomic<bool> ending_ = false;
    std::thread thread_;
};

void drain_both_ways(bed& on, const std::string& scenario, const std::string& plugin,
                     const scrapes_options& how, results& into) {
    constexpr double milliseconds_in_second = 1000;
    const place alone{"scrapes", scenario, relay_name(plugin)};
    const place watched{"scrapes",
                        fmt::format("{}, {} scrapes/s", scenario, how.scrapes_per_second),
                        relay_name(plugin)};
    const auto port = test::free_port();
    auto start = on.how("run", plugin);
    start.environment["WALRELAY_HTTP_LISTEN"] = "127.0.0.1:" + std::to_string(port);
    const double undisturbed = measure_relay(on, alone, start, plugin, how.rows, into);
    scraper asking(port, how.scrapes_per_second);
    asking.begin();
    const double reached = measure_relay(on, watched, start, plugin, how.rows, into);
    asking.end();
    into.add(watched, "of_first", reached / undisturbed);
    into.add(watched, "scrapes_per_second", asking.per_second());
    into.add(watched, "longest_scrape_milliseconds",
             asking.longest().count() * milliseconds_in_second);
    say("scrapes: {}: {:.0f} rows/s alone, {:.0f} with {:.0f} scrapes/s", plugin, undisturbed,
        reached, asking.per_second());
}

}  // namespace

void measure_scrapes(const scrapes_options& how, const programs& with, results& into) {
    const auto scenario = fmt::format("300 B, {} rows", how.rows);
    bed on(with);
    on.calibrate(300);
    on.fill({.rows = how.rows});
    for (int repetition = 1; repetition <= how.repetitions; ++repetition) {
        for (const auto& plugin : how.plugins) {
            drain_both_ways(on, scenario, plugin, how, into);
        }
        into.end_repetition();
    }
}

}  // namespace walrelay::bench
