#include "harness/restart.hpp"

#include "harness/progress.hpp"

#include <unistd.h>

#include <stdexcept>

namespace walrelay::bench {
namespace {

using clock_type = std::chrono::steady_clock;

constexpr const char* part = "restart";
constexpr std::chrono::minutes longest{10};

double seconds_since(clock_type::time_point start) {
    return std::chrono::duration<double>(clock_type::now() - start).count();
}

void stop(test::relay_process& relay) {
    if (relay.stop(std::chrono::seconds(30)) != 0) {
        throw std::runtime_error("walrelay did not stop in order:\n" + relay.log());
    }
}

/// Returns seconds until the stream has `messages`.
double run_until(bed& on, const std::string& plugin, std::uint64_t messages) {
    sync();
    const auto start = clock_type::now();
    test::relay_process relay(on.how("run", plugin));
    double seconds = 0;
    try {
        seconds = on.wait_for_messages(messages, start, longest);
    } catch (const std::exception& failure) {
        throw std::runtime_error(std::string(failure.what()) + "; walrelay said:\n" + relay.log());
    }
    stop(relay);
    return seconds;
}

double decode_once(bed& on, const std::string& plugin) {
    on.reset_slot(plugin);
    const auto what = on.decode(plugin);
    const auto start = clock_type::now();
    test::run_to_success(what, longest);
    return seconds_since(start);
}

}  // namespace

void measure_restart(const restart_options& how, const programs& with, results& into) {
    say("restart: making {} rows", how.rows);
    bed on(with);
    on.calibrate(300);
    on.fill({.rows = how.rows});
    auto session = on.postgres.session();
    on.reset(how.plugins.front());
    (void)run_until(on, how.plugins.front(), how.rows);
    const auto scenario = fmt::format("{} rows to skip", how.rows);
    auto messages = how.rows;
    for (int repetition = 1; repetition <= how.repetitions; ++repetition) {
        for (const auto& plugin : how.plugins) {
            ++messages;
            session.execute(insert_rows(messages, messages));
            const double decoding = decode_once(on, plugin);
            into.add({part, scenario, limit_name(plugin)}, "seconds", decoding);
            on.reset_slot(plugin);
            const double restarting = run_until(on, plugin, messages);
            const place where{part, scenario, relay_name(plugin)};
            into.add(where, "seconds", restarting);
            into.add(where, "of_limit", decoding / restarting);
            say("restart: {}: {:.2f} s, decoder alone {:.2f} s", plugin, restarting, decoding);
        }
        into.end_repetition();
    }
}

}  // namespace walrelay::bench
