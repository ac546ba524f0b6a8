// Looks for events in the tables, among the dead letters and in the stream: by subject and time,
// and not by reading all, where the row, a message in hand, the dead letter, the aggregate or the
// id tells them.
#pragma once

#include "config/settings.hpp"
#include "core/error.hpp"
#include "core/lineage.hpp"
#include "nats/requests/stream_scan.hpp"
#include "postgres/session/connection.hpp"
#include "postgres/tables/slot_start.hpp"
#include "servers/run_to_end.hpp"
#include "tasks/find/event_trace.hpp"
#include "tasks/find/find_options.hpp"
#include "tasks/find/find_progress.hpp"
#include "tasks/replay/table_rows.hpp"

#include <boost/asio/awaitable.hpp>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace walrelay::tasks {

struct found_events {
    std::vector<event_trace> events = {};
    surroundings around = {};
};

class event_search {
public:
    /// Both must outlive it.
    event_search(servers::executors on, const config::settings& settings,
                 const find_options& options)
        : on_(std::move(on)), settings_(settings), options_(options) {}

    /// Once. Errors: of either server; configuration_invalid where the options name nothing.
    [[nodiscard]] boost::asio::awaitable<result<found_events>> run();

private:
    template <class Value = void>
    using outcome = boost::asio::awaitable<result<Value>>;

    [[nodiscard]] result<void> open_stream();
    [[nodiscard]] result<void> begin_with_the_message();
    [[nodiscard]] outcome<> open_tables();
    [[nodiscard]] outcome<> begin_with_the_aggregate();
    [[nodiscard]] outcome<> begin_with_its_subjects(const std::string& type, const std::string& id);
    [[nodiscard]] result<void> begin_with_messages_of(const std::string& subject);
    [[nodiscard]] outcome<> find_rows(event_trace& of);
    [[nodiscard]] outcome<> find_row(table_rows& in, const std::string& condition, event_trace& of);
    [[nodiscard]] outcome<> tell_of_row(table_rows& in, traced_row& row);
    [[nodiscard]] outcome<> read_conditions();
    /// Nothing where there is no such condition, or it cannot be told.
    [[nodiscard]] boost::asio::awaitable<std::optional<bool>> is_true_of(table_rows& in,
                                                                         const traced_row& row,
                                                                         const std::string& what);
    [[nodiscard]] outcome<> find_letters(event_trace& of);
    [[nodiscard]] outcome<> look_at_slot();
    [[nodiscard]] outcome<> choose_where_to_look();
    [[nodiscard]] outcome<> choose_where_to_begin();
    [[nodiscard]] outcome<std::optional<wall_time>> earliest_time();
    [[nodiscard]] outcome<std::optional<wall_time>> earliest_time_of(const event_trace& one);
    void choose_subjects(const std::vector<std::string>& of_replays);
    [[nodiscard]] result<void> read_messages();
    [[nodiscard]] bool all_are_found() const;
    [[nodiscard]] result<void> read_all_messages();
    [[nodiscard]] result<void> read_messages_of(const std::string& subject, std::uint64_t from,
                                                std::optional<std::uint64_t> end = std::nullopt);

    servers::executors on_;
    const config::settings& settings_;
    const find_options& options_;
    std::optional<nats::stream_scan> stream_;
    std::optional<postgres::connection> sql_;
    std::vector<std::unique_ptr<table_rows>> tables_;
    /// SQL that is true of rows after the slot's beginning, and after the witness; empty where it
    /// is not known.
    std::optional<postgres::slot_start> start_;
    std::string after_witness_;
    /// Of messages of events whose row may be gone.
    std::vector<std::string> seen_subjects_;
    find_progress progress_;
    /// The server's; nothing where it could not be asked.
    std::optional<lineage> line_;
    /// By the last reading.
    std::uint64_t read_count_ = 0;
    found_events found_;
};

}  // namespace walrelay::tasks
