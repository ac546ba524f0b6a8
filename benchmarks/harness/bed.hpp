// What every measurement lies on: a PostgreSQL with an outbox, a nats-server, walrelay, and a slot
// that stays where it is, of which each contender gets a copy to read from.
#pragma once

#include "harness/backlog.hpp"
#include "harness/broker.hpp"
#include "harness/message_like.hpp"
#include "support/postgres_server.hpp"
#include "support/relay_process.hpp"
#include "support/stream_reader.hpp"
#include "support/temporary_folder.hpp"

#include <chrono>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace walrelay::bench {

/// Another build of walrelay, to be measured beside the first.
struct other_build {
    std::string name;
    std::filesystem::path program;
};

/// The programs that are measured and that measure.
struct programs {
    std::filesystem::path walrelay;
    std::filesystem::path publisher;
    std::vector<other_build> others = {};
};

/// Of a publisher alone: with nats.c, or with lines of the protocol that are ready but for their
/// numbers.
enum class publisher_kind { library, bare };

using plugin_options = std::vector<std::pair<std::string, std::string>>;

/// The servers as they come, but for a larger max_wal_size and no autovacuum. Everything here
/// throws std::runtime_error.
class bed {
public:
    static constexpr const char* stream = "OUTBOX";
    static constexpr const char* slot = "walrelay";
    static constexpr const char* publication = "walrelay";

    explicit bed(programs with, std::vector<std::string> postgres_settings = {},
                 const broker_kind& brokers = {});

    test::postgres_server postgres;
    broker nats;

    /// For writers: a role of its own, so that what they ask of the server can be told from what
    /// the relay asks.
    [[nodiscard]] std::string writer_conninfo() const;

    /// Makes rows come out of the relay as messages with a body of `body_bytes`: the JSON envelope,
    /// or where that alone is larger, the payload as it is. Learns by relaying two rows with each
    /// plugin what the relay sends and what it asks of the plugin; then places the base slot.
    void calibrate(std::uint64_t body_bytes);

    [[nodiscard]] const message_like& message() const { return *message_; }
    [[nodiscard]] std::filesystem::path message_file() const;
    /// What the relay asks of the plugin.
    [[nodiscard]] const plugin_options& options_of(const std::string& plugin) const;

    /// Commits the rows behind the base slot or the relay's. Says so beforehand if the disk has not
    /// the room for them and for the stream that they become.
    void fill(const backlog& what) const;

    /// Gives the slot that the relay uses the position of the base slot, and empties the stream.
    void reset(const std::string& plugin);
    /// Another stream in place of the one that is there, empty and like it.
    void remake_stream(bool takes_batches = false);
    /// Of a cluster, after `reset`: the server to which walrelay and publishers connect from now
    /// on, until the next `reset`. Waits for a leader.
    void connect_at(broker_role role, const std::string& plugin);
    /// An empty outbox and an empty stream, and the relay's slot at the end of the WAL. The base
    /// slot is gone.
    void start_over(const std::string& plugin);
    /// Only the slot of `reset`.
    void reset_slot(const std::string& plugin) const;

    [[nodiscard]] test::relay_start how(const std::string& command,
                                        const std::string& plugin) const;
    [[nodiscard]] test::command publish(std::uint64_t rows, publisher_kind kind) const;
    /// pg_recvlogical into /dev/null, from the relay's slot up to the end of the WAL as it is now.
    [[nodiscard]] test::command decode(const std::string& plugin) const;
    /// The same without an end.
    [[nodiscard]] test::command decode_for_ever(const std::string& plugin) const;

    struct arrival {
        std::uint64_t messages = 0;
        double seconds = 0;
    };
    /// Waits until the stream has that many messages, or `limit` has passed since `start`. Asks
    /// less often while there is a long way to go, so as not to be a load.
    [[nodiscard]] arrival messages_within(std::uint64_t count,
                                          std::chrono::steady_clock::time_point start,
                                          std::chrono::seconds limit);
    /// Seconds from `start` until it has them; throws if that takes longer than `limit`.
    [[nodiscard]] double wait_for_messages(std::uint64_t count,
                                           std::chrono::steady_clock::time_point start,
                                           std::chrono::seconds limit);
    /// True once the slot is confirmed up to `lsn`.
    [[nodiscard]] bool wait_for_confirmed(const std::string& lsn, std::chrono::seconds limit) const;

    /// Those of the relay and of the base; a publication stays.
    void remove_slots() const;
    /// That of `reset` and `start_over`, where a contender brings its own.
    void remove_stream();
    /// True once somebody reads from the relay's slot.
    [[nodiscard]] bool wait_for_reader(std::chrono::seconds limit) const;

    /// Rows by the sequence numbers that their messages have in the stream; the first is 1.
    [[nodiscard]] std::vector<std::uint64_t> rows_in_stream();

    [[nodiscard]] const programs& tools() const { return tools_; }
    [[nodiscard]] const std::filesystem::path& folder() const { return folder_.path(); }

private:
    void write_settings(const std::string& plugin) const;
    [[nodiscard]] bool takes_publishes();
    void init(const std::string& plugin) const;
    void remove_slot(const std::string& name) const;
    void require_space(const backlog& what) const;
    [[nodiscard]] std::uint64_t body_bytes_now(std::uint64_t row);
    void learn(const std::string& plugin, std::uint64_t body_bytes);

    programs tools_;
    test::temporary_folder folder_{"bench"};
    std::string body_ = "event";
    /// Where contenders connect.
    std::string url_;
    std::uint64_t samples_ = 0;
    std::optional<message_like> message_;
    std::map<std::string, plugin_options> options_;
    test::stream_reader reader_;
};

}  // namespace walrelay::bench
