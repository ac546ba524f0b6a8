// Every minute, while it streams, a relay calls rows that have come into its tables since the last
// time: those that PostgreSQL does not send are missed then (relay/machine/startup_check), whatever
// the reason, also one that was over before anybody looked at the catalogs.
#pragma once

#include "app/awaited_row.hpp"
#include "config/settings.hpp"
#include "core/instant.hpp"
#include "core/last_look.hpp"
#include "relay/driver/relay_driver.hpp"
#include "servers/run_to_end.hpp"
#include "tasks/startup_check/new_rows.hpp"

#include <boost/asio/awaitable.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace walrelay::app {

class row_caller {
public:
    static constexpr std::chrono::seconds every{60};
    /// After a connection was made, twice: from then on rows are heard, and called.
    static constexpr std::chrono::seconds first_after{5};

    /// `settings` and `driver` must live as long.
    row_caller(servers::executors on, const config::settings& settings, relay::relay_driver& driver)
        : on_(std::move(on)), settings_(settings), driver_(driver), rows_(settings) {}

    /// Over a connection of its own, for the relay's of this epoch. One at a time. What cannot be
    /// asked is told in the log, once, and asked again. `sign`: of the server now, see last_look;
    /// empty is not known.
    [[nodiscard]] boost::asio::awaitable<void> call(std::uint64_t epoch, std::string sign);
    /// Rows that nobody had heard were looked for in the whole stream, which took so long: they are
    /// not called again for a while.
    void were_looked_for(std::chrono::steady_clock::duration took);

private:
    [[nodiscard]] boost::asio::awaitable<result<void>> begin(std::uint64_t epoch,
                                                             postgres::connection& sql);
    [[nodiscard]] boost::asio::awaitable<void> hear_some();
    [[nodiscard]] boost::asio::awaitable<result<void>> call_over(std::uint64_t epoch,
                                                                 postgres::connection& sql);
    void tell(const result<void>& done);

    servers::executors on_;
    const config::settings& settings_;
    relay::relay_driver& driver_;
    tasks::new_rows rows_;
    /// For which rows are heard, from a moment that is known.
    std::optional<std::uint64_t> epoch_;
    monotonic_time due_ = {};
    /// Two calls a minute apart found nothing with the same sign: PostgreSQL counts a row that was
    /// inserted up to a minute after its commit (pgstat.c, PGSTAT_MAX_INTERVAL).
    last_look look_;
    std::string sign_ = {};
    /// Of the rows that were called last.
    awaited_row awaited_;
    /// Of the last call; in a new process nothing, so that it is told once.
    std::string trouble_;
};

}  // namespace walrelay::app
