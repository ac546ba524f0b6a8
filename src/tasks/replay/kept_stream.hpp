// Reads the past from a kept slot: a temporary copy of it, decoded in the session that made it.
#pragma once

#include "config/settings.hpp"
#include "core/error.hpp"
#include "core/facts.hpp"
#include "core/lineage.hpp"
#include "postgres/session/replication_stream.hpp"
#include "postgres/tables/replay_desk.hpp"
#include "relay/replay/replay_reader.hpp"
#include "servers/run_to_end.hpp"

#include <boost/asio/awaitable.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace walrelay::tasks {

/// Keeps other replays of the slot out for as long as the connection lives. Errors: slot_in_use.
[[nodiscard]] boost::asio::awaitable<result<postgres::connection>> hold_replay_slot(
    servers::executors on, const config::settings& settings, std::string kept_slot,
    output_plugin plugin = output_plugin::pgoutput);

class kept_stream {
public:
    /// Begins after the row that `of` has written last, else where it begins; of one with a number
    /// that is asked of walrelay.replay once other replays of the slot are kept out. Errors: those
    /// of copy_to_replay_slot, of the connections and of inspect.
    [[nodiscard]] static boost::asio::awaitable<result<std::unique_ptr<kept_stream>>> open(
        servers::executors on, const config::settings& settings, postgres::connection& sql,
        postgres::kept_replay of, relay::replayed_as as = relay::replayed_as::control_row);

    /// What is read.
    [[nodiscard]] const lineage& line() const { return line_; }
    [[nodiscard]] const std::string& database() const { return database_; }

    /// Parts of the publication that may be younger than what is read: rows from before it had them
    /// are not among it.
    [[nodiscard]] const std::vector<std::string>& published_later() const {
        return published_later_;
    }

    /// The next thing that was read; its views live until the next call.
    [[nodiscard]] boost::asio::awaitable<result<relay::replay_read>> next();
    /// To be called often where nothing is read for a while: the server ends a session that it does
    /// not hear of (wal_sender_timeout).
    [[nodiscard]] result<void> stay_alive();

    kept_stream(postgres::replication_stream stream, relay::replay_reader reader,
                const postgres_facts& facts, lineage line,
                std::vector<std::string> published_later);

private:
    [[nodiscard]] result<void> report();

    postgres::replication_stream stream_;
    relay::replay_reader reader_;
    lineage line_;
    std::vector<std::string> published_later_;
    std::string database_;
    std::chrono::milliseconds reports_each_;
    std::chrono::steady_clock::time_point reported_at_;
    lsn received_ = {};
};

/// Hands over every row of the range, whose views live during the call.
[[nodiscard]] boost::asio::awaitable<result<void>> read_to_the_end(
    kept_stream& past, std::function<void(const relay::replayed_row&)> take);

}  // namespace walrelay::tasks
