// Rows that come into the tables while the relay runs, some of them, called again and again, so
// that those which PostgreSQL does not send are missed (relay/machine/startup_check judges). Never
// by a scan: where nothing was inserted nothing is read, else the newest rows by an index on the
// time, or some dozens of pages.
#pragma once

#include "config/settings.hpp"
#include "core/error.hpp"
#include "postgres/session/connection.hpp"
#include "postgres/tables/newest_rows.hpp"
#include "relay/machine/roll_call.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include <optional>

namespace walrelay::tasks {

class new_rows {
public:
    /// `settings` must live as long.
    explicit new_rows(const config::settings& settings) : settings_(settings) {}

    /// Rows that are committed from now on are meant. Errors: also those of a standby, which does
    /// not say where its WAL ends.
    [[nodiscard]] boost::asio::awaitable<result<void>> begin(postgres::connection& sql);
    /// The newest of them, by the time of the tables; nothing where none was inserted since
    /// `begin`. Tables without such a time are passed over. Errors: also those of a role that may
    /// not read the tables.
    [[nodiscard]] boost::asio::awaitable<result<std::optional<relay::roll>>> read(
        boost::asio::any_io_executor executor, postgres::connection& sql);

private:
    const config::settings& settings_;
    std::optional<postgres::tables_moment> since_;
};

}  // namespace walrelay::tasks
