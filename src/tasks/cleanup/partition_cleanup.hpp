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
                      std::optional<outbox::id_inverse> inverse, history_source known,
                      cleanup_counts& counts);

    /// Looks now and then, until it is closed.
    [[nodiscard]] boost::asio::awaitable<void> run();
    void close();

private:
    template <class Value = void>
    using outcome = boost::asio::awaitable<result<Value>>;

    outcome<> look();
    /// Fills missing_ and pending_ for the partitions.
    outcome<> compare(std::vector<postgres::partition> over);
    outcome<> read_rows(const postgres::snapshot_facts& snapshot, std::uint32_t number);
    result<void> scan_stream(const audit::known_history& known);
    [[nodiscard]] bool is_of_the_table(std::string_view message_id) const;
    outcome<> judge(const postgres::partition& one, std::uint32_t number, bool has_default);

    servers::executors on_;
    const config::settings& settings_;
    const outbox_table& table_;
    std::optional<outbox::id_inverse> inverse_;
    history_source known_;
    cleanup_counts& counts_;
    std::optional<postgres::connection> sql_;
    std::unique_ptr<audit::missing_rows> missing_;
    std::vector<std::uint64_t> pending_;
    boost::asio::steady_timer timer_;
    /// Asked by the thread that reads the stream.
    std::atomic<bool> closed_ = false;
    std::string told_;
};

}  // namespace walrelay::tasks
