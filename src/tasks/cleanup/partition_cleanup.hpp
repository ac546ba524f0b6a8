// Detaches the partitions of one table that are over and whose rows the stream has, all of them.
// Drops nothing: the log says what to drop.
#pragma once

#include "audit/missing_rows.hpp"
#include "config/settings.hpp"
#include "core/cleanup_counts.hpp"
#include "core/error.hpp"
#include "outbox/id_inverse.hpp"
#include "postgres/catalog/partitions.hpp"
#include "postgres/session/connection.hpp"
#include "postgres/tables/outbox_snapshot.hpp"
#include "servers/run_to_end.hpp"
#include "tasks/cleanup/row_cleanup.hpp"
#include "tasks/cleanup/row_rules.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace walrelay::tasks {

class partition_cleanup : public std::enable_shared_from_this<partition_cleanup> {
public:
    /// As for row_cleanup. Without an inverse every message counts that has the id of a row.
    partition_cleanup(servers::executors on, const config::settings& settings, std::size_t table,
                      std::uint32_t oid, std::optional<outbox::id_inverse> inverse,
                      history_source known, cleanup_counts& counts);

    /// Looks now and then, until it is closed.
    [[nodiscard]] boost::asio::awaitable<void> run();
    void close();

private:
    template <class Value = void>
    using outcome = boost::asio::awaitable<result<Value>>;

    outcome<> look();
    void has_failed(const error& why, bool lasts);
    /// Fills missing_ and pending_ for the partitions.
    outcome<> compare(std::vector<postgres::partition> over);
    outcome<> read_rows(const postgres::snapshot_facts& snapshot, std::uint32_t number);
    result<void> scan_stream(const audit::known_history& known);
    /// Since when the messages count.
    outcome<> recall_rules();
    /// The same on the thread that may wait.
    result<row_rules> ask_for_rules(const audit::known_history& known) const;
    /// Why rows can be missing although the stream has their ids; empty where none are.
    [[nodiscard]] std::string told_of_older() const;
    [[nodiscard]] bool is_of_the_table(std::string_view message_id) const;
    outcome<> judge(const postgres::partition& one, std::uint32_t number, bool has_default);

    servers::executors on_;
    const config::settings& settings_;
    std::size_t number_;  // of the table, in the settings
    std::uint32_t oid_;
    const outbox_table& table_;
    std::optional<outbox::id_inverse> inverse_;
    history_source known_;
    cleanup_counts& counts_;
    std::optional<postgres::connection> sql_;
    std::unique_ptr<audit::missing_rows> missing_;
    std::vector<std::uint64_t> pending_;
    row_rules rules_;
    /// Messages that were published by other rules, which stand for no row.
    std::uint64_t older_ = 0;
    boost::asio::steady_timer timer_;
    /// Asked by the thread that reads the stream.
    std::atomic<bool> closed_ = false;
    std::string told_;
};

}  // namespace walrelay::tasks
