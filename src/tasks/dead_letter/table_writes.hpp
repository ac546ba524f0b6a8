// What walrelay writes into outbox tables while it streams: dead letters with their status, and
// write-backs. Belongs to one replication connection and ends with it. Decides nothing.
#pragma once

#include "config/settings.hpp"
#include "core/dead_letter.hpp"
#include "core/error.hpp"
#include "core/position.hpp"
#include "postgres/tables/outbox_writer.hpp"
#include "relay/confirm/write_backs.hpp"
#include "relay/intake/republish.hpp"
#include "relay/machine/action.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace walrelay::tasks {

/// All kinds may run side by side: each has a connection of its own, made when it is first needed,
/// and again after a failure.
class table_writes {
public:
    /// The settings must outlive it.
    table_writes(boost::asio::any_io_executor executor, const config::settings& settings)
        : executor_(std::move(executor)), settings_(settings) {}

    /// One at a time.
    [[nodiscard]] boost::asio::awaitable<result<void>> set_aside(
        const std::vector<dead_letter>& letters);
    /// One at a time. `origin` is the history of the rows' positions.
    [[nodiscard]] boost::asio::awaitable<result<void>> write_back(
        const relay::write_back_batch& batch, history origin);

    /// The row of this id, nothing where there is none; of one that is larger than
    /// delivery.max_row_bytes its size alone. One at a time.
    [[nodiscard]] boost::asio::awaitable<result<std::optional<relay::table_row>>> fetch(
        const relay::fetch_row& wanted);

    /// The server's process that has the present write of this kind; 0 if there is none yet.
    [[nodiscard]] int process_of(relay::waiting_write what) const;

    /// What is under way ends with an error.
    void close();

private:
    [[nodiscard]] boost::asio::awaitable<result<void>> open(
        std::optional<postgres::outbox_writer>& writer);

    [[nodiscard]] boost::asio::awaitable<result<void>> set_aside_by_two(
        std::vector<postgres::outbox_writer::row_set_aside> rows);

    boost::asio::any_io_executor executor_;
    const config::settings& settings_;
    std::optional<postgres::outbox_writer> for_dead_letters_;
    /// Of rows that become dead letters, where postgres.writer is set.
    std::optional<postgres::outbox_writer> for_statuses_;
    std::optional<postgres::outbox_writer> for_write_backs_;
    std::optional<postgres::outbox_writer> for_fetches_;
    bool closed_ = false;
};

}  // namespace walrelay::tasks
