// The steps of walrelay verify: rows, then messages, then what is still open. Compares nothing
// itself (audit/auditor) and prints nothing but progress.
#pragma once

#include "audit/auditor.hpp"
#include "config/settings.hpp"
#include "core/error.hpp"
#include "nats/requests/stream_scan.hpp"
#include "postgres/session/connection.hpp"
#include "postgres/tables/halt_store.hpp"
#include "postgres/tables/outbox_snapshot.hpp"
#include "servers/run_to_end.hpp"
#include "tasks/replayed_rows.hpp"
#include "tasks/verify/compared_rows.hpp"
#include "tasks/verify/verify_options.hpp"
#include "tasks/verify/verify_progress.hpp"

#include <boost/asio/awaitable.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace walrelay::tasks {

struct verify_outcome {
    audit::report report;
    /// As it was last looked at; nothing if no row was open.
    std::optional<postgres::slot_progress> slot = {};
    /// Messages that are gone from the stream's beginning, where rows are excused for them.
    std::uint64_t removed_messages = 0;
    /// The same from between others, where newer ones of their subjects replace messages.
    std::uint64_t replaced_messages = 0;
    /// Every row that was compared was committed before it.
    lsn snapshot_end = {};
    /// Asked for through the WAL, and in no message: the slot that would have brought it was lost
    /// or moved.
    std::vector<std::int64_t> lost_retries = {};
    std::vector<open_replay> lost_replays = {};
    /// Of these it is not known, as no relay has read all that was written.
    std::vector<open_replay> unread_replays = {};
    /// The slot is halted.
    std::optional<postgres::kept_halt> halt = {};
    /// Why it cannot be told which of the open rows the slot still brings, where that was to be
    /// told.
    std::optional<error> slot_not_read = {};

    [[nodiscard]] bool clean() const {
        return report.clean() && lost_retries.empty() && lost_replays.empty();
    }
};

class verification {
public:
    verification(servers::executors on, const config::settings& settings,
                 const verify_options& options);

    /// Errors: of either server, and temporary_file.
    [[nodiscard]] boost::asio::awaitable<result<verify_outcome>> run();

private:
    template <class Value = void>
    using outcome = boost::asio::awaitable<result<Value>>;

    result<void> open_stream();
    outcome<> begin();
    outcome<> look_at_start();
    boost::asio::awaitable<void> look_at_witness();
    result<void> make_auditor();
    outcome<> read_rows();
    outcome<> read_table(std::uint32_t number);
    result<void> read_first_messages();
    [[nodiscard]] std::uint64_t replaced_count() const {
        const auto& facts = stream_->facts();
        return facts.replaces_messages() ? facts.hole_count() : 0;
    }
    [[nodiscard]] bool excuses_removed() const {
        return options_.excuses_removed && stream_->facts().removed_count() + replaced_count() > 0;
    }
    result<void> read_messages();
    result<void> take(const nats::scanned_message& one);
    boost::asio::awaitable<void> read_history();
    outcome<> read_dead_letters();
    outcome<audit::finding_kind> settle();
    /// What was asked for through the WAL.
    outcome<> look_at_requests();
    outcome<audit::finding_kind> settle_with_idle_slot();
    /// Tells the auditor the rows that the slot still brings, out of a copy of it.
    outcome<> read_slot();
    [[nodiscard]] bool has_passed(const postgres::slot_progress& slot) const;

    servers::executors on_;
    const config::settings& settings_;
    const verify_options& options_;
    verify_progress progress_;
    std::optional<nats::stream_scan> stream_;
    std::optional<postgres::connection> sql_;
    postgres::snapshot_facts snapshot_;
    std::chrono::steady_clock::time_point snapshot_at_;
    compared_rows rows_;
    /// Of the messages that are compared.
    lsn since_ = {};
    std::unique_ptr<audit::auditor> auditor_;
    std::string last_dead_letter_;
    /// As far as it is known.
    verify_outcome done_;
};

}  // namespace walrelay::tasks
