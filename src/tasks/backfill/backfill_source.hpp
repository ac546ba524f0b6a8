// The rows of the tables that come before the slot's: a temporary slot with a snapshot of the same
// moment, and the rows of that snapshot that the stream lacks (missing_search).
//
// How they are published, and when the slot is adopted, is the business of relay/relay_machine.
#pragma once

#include "audit/missing_rows.hpp"
#include "config/settings.hpp"
#include "core/change.hpp"
#include "core/error.hpp"
#include "core/facts.hpp"
#include "core/lineage.hpp"
#include "postgres/catalog/snapshot_slot.hpp"
#include "postgres/session/connection.hpp"
#include "postgres/tables/outbox_snapshot.hpp"
#include "preflight/preflight.hpp"
#include "relay/driver/surroundings.hpp"
#include "relay/machine/postgres_session.hpp"
#include "servers/run_to_end.hpp"
#include "tasks/backfill/missing_search.hpp"

#include <boost/asio/awaitable.hpp>

#include <chrono>
#include <memory>
#include <optional>
#include <vector>

namespace walrelay::tasks {

class backfill_source {
public:
    backfill_source(servers::executors on, const config::settings& settings,
                    preflight::backfill_reason reason, postgres_facts facts);

    /// Makes the temporary slot and finds out what the stream lacks; long for large tables.
    /// `earlier_process` is as in start_options. Errors: of either server, and temporary_file;
    /// postgres_unsuitable where it cannot be told which rows are missing; slot_in_use or
    /// slot_not_released where the slot that is to be given up is read by somebody.
    [[nodiscard]] boost::asio::awaitable<result<relay::postgres_session>> begin(
        int earlier_process);

    /// The next row of the piece that was fetched last; nothing at its end.
    [[nodiscard]] std::optional<relay::backfill_row> next();
    /// Fetches the next piece; false where there is none.
    [[nodiscard]] boost::asio::awaitable<result<bool>> fetch();
    /// Makes the slot a lasting one.
    [[nodiscard]] boost::asio::awaitable<result<void>> adopt();

    /// Ends both connections at once, and with them the temporary slot.
    void close();

private:
    template <class Value = void>
    using outcome = boost::asio::awaitable<result<Value>>;

    [[nodiscard]] bool holds_rows() const;
    [[nodiscard]] std::optional<error> is_in_use(int earlier_process) const;
    [[nodiscard]] std::optional<error> gives_up_messages() const;
    outcome<> make_slot();
    outcome<> claim_name(postgres::connection& sql);
    outcome<> search();
    outcome<> make_temporary_slot();
    boost::asio::awaitable<void> make_failover_slot();
    outcome<> begin_snapshot();
    outcome<bool> open_table();
    outcome<bool> fetch_run(audit::row_run run);
    void hold_piece(postgres::row_set rows);
    void tell_progress();

    servers::executors on_;
    const config::settings& settings_;
    preflight::backfill_reason reason_;
    postgres_facts facts_;
    output_plugin plugin_ = output_plugin::pgoutput;
    std::optional<postgres::connection> replication_;
    std::optional<postgres::connection> sql_;
    server_identity server_;
    postgres::snapshot_slot slot_;
    postgres::snapshot_facts snapshot_;
    std::shared_ptr<missing_search> search_;

    // Where the reading of rows stands.
    std::uint32_t table_ = 0;
    bool table_is_open_ = false;
    std::uint64_t next_row_ = 0;  // of the table
    postgres::row_set piece_;
    std::size_t next_of_piece_ = 0;
    bool piece_is_published_ = false;
    std::vector<field> fields_;
    std::size_t rows_of_a_piece_ = 100;
    std::uint64_t told_rows_ = 0;
    /// Of the first piece.
    std::optional<std::chrono::steady_clock::time_point> begun_at_;
    std::chrono::steady_clock::time_point told_at_;
};

}  // namespace walrelay::tasks
