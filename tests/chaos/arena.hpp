// Where a fault happens: a PostgreSQL with an outbox, a broker (one server or a cluster), one or
// two relays, and proxies on the links where they are asked for. Knows nothing of the faults.
#pragma once

#include "chaos/cluster_network.hpp"
#include "chaos/tcp_proxy.hpp"
#include "support/nats_cluster.hpp"
#include "support/nats_server.hpp"
#include "support/postgres_server.hpp"
#include "support/postgres_standby.hpp"
#include "support/relay_process.hpp"
#include "support/stream_reader.hpp"
#include "support/temporary_folder.hpp"

#include <array>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace walrelay::chaos {

/// The names of everything: an arena has servers of its own.
inline constexpr const char* stream_name = "CHAOS";
inline constexpr const char* slot_name = "chaos";
inline constexpr const char* all_subjects = "chaos.>";
/// Keys of the relay's [[outbox]] where a fault asks for no others.
inline constexpr const char* usual_outbox =
    "subject = 'chaos.{aggregate_type}.{event_type}'\n"
    "body = 'payload'\n"
    "headers = { Aggregate = '{aggregate_id}' }\n";

struct arena_options {
    std::filesystem::path relay_program;
    std::string plugin = "pgoutput";
    bool cluster = false;
    /// The links between the servers of the cluster, and to them, can be cut.
    bool cluster_network = false;
    bool proxies = false;
    unsigned relays = 1;
    /// Lines for these sections of the relay's configuration.
    std::string delivery{};
    std::string outbox{};
    std::string postgres{};
    std::string nats{};
    /// Whole [[outbox]] entries of further tables.
    std::string more_outboxes{};
    /// The table, in place of the usual one; see outbox_events.hpp.
    std::string create_table{};
    std::vector<std::string> postgres_settings = {};
    /// The programs of another version of PostgreSQL; empty is the usual one.
    std::filesystem::path postgres_programs{};
    std::vector<std::string> nats_settings = {};
    /// The stream is made beforehand with this window, rather than by the relay.
    std::optional<std::chrono::nanoseconds> duplicate_window = {};
};

class arena {
public:
    explicit arena(arena_options options);
    ~arena();
    arena(const arena&) = delete;
    arena& operator=(const arena&) = delete;

    [[nodiscard]] const arena_options& options() const { return options_; }
    /// What is changed here of the relay's configuration, the next one to be started has.
    [[nodiscard]] arena_options& change() { return options_; }
    /// The first server.
    [[nodiscard]] test::postgres_server& postgres() { return postgres_; }
    [[nodiscard]] const std::string& database() const { return database_; }
    /// Of the server that is the primary now, never through a proxy.
    [[nodiscard]] std::string conninfo() const { return primary_->conninfo(database_); }
    [[nodiscard]] test::postgres_session session() const { return primary_->session(database_); }

    /// A streaming standby of the first server.
    [[nodiscard]] test::postgres_standby& add_standby(test::standby_options options = {});
    /// A server whose disk is to be replaced by a copy of another's.
    [[nodiscard]] test::postgres_server& add_server();
    /// The one that writers write to from now on; the relay's configuration stays as it is.
    void make_primary(test::postgres_instance& server) { primary_ = &server; }
    /// The relay's conninfo names these, in this order, without a proxy.
    void relay_connects_to(const std::vector<const test::postgres_instance*>& servers);
    [[nodiscard]] test::nats_server& nats() { return *nats_; }
    [[nodiscard]] test::nats_cluster& cluster() {
        return network_ ? network_->cluster() : *cluster_;
    }
    [[nodiscard]] cluster_network& network() { return *network_; }
    /// Of the servers themselves, with commas in between.
    [[nodiscard]] std::string broker_url() const;
    [[nodiscard]] tcp_proxy& nats_link() { return *nats_link_; }
    [[nodiscard]] tcp_proxy& postgres_link() { return *postgres_link_; }
    [[nodiscard]] const std::filesystem::path& folder() const { return folder_.path(); }

    /// Starts it, or starts it again, and waits for nothing. `flags` are those of `walrelay run`.
    void start_relay(unsigned index = 0, const std::vector<std::string>& flags = {});
    [[nodiscard]] test::relay_process& relay(unsigned index = 0) { return *relays_.at(index); }
    /// Whether all the relays that were started are still there.
    [[nodiscard]] bool relays_run();
    /// For people: which have ended, and with what code; empty if none has.
    [[nodiscard]] std::string ended_relays();
    [[nodiscard]] std::string relay_log(unsigned index = 0) const;
    /// `walrelay <words>` to its end.
    [[nodiscard]] test::finished_run command(const std::vector<std::string>& words);
    /// The same, without waiting for its end; to be looked after by who began it.
    [[nodiscard]] test::relay_process begin(const std::vector<std::string>& words);

    /// Commits a row and returns the subject of its message. Throws std::runtime_error.
    [[nodiscard]] std::string commit_marker();
    /// False also while the broker does not answer.
    [[nodiscard]] bool is_stored(const std::string& subject);
    /// The process of the slot's consumer; nothing if nobody streams from it.
    [[nodiscard]] std::optional<int> walsender();
    /// The relay that streams from the slot.
    [[nodiscard]] std::optional<unsigned> leader();

    /// Copies the logs of all that ran here, and what a crashed relay left behind, into a folder,
    /// which is made.
    void keep_logs(const std::filesystem::path& where);

private:
    [[nodiscard]] std::string configuration(unsigned index) const;
    [[nodiscard]] std::string relay_conninfo() const;
    [[nodiscard]] std::string relay_urls() const;
    [[nodiscard]] test::relay_start start_with(const std::vector<std::string>& words,
                                               const std::string& name, unsigned index) const;
    [[nodiscard]] std::optional<test::sql_row> walsender_row() const;

    arena_options options_;
    test::temporary_folder folder_{"chaos"};
    test::postgres_server postgres_;
    std::list<test::postgres_standby> standbys_;
    std::list<test::postgres_server> more_servers_;
    test::postgres_instance* primary_ = &postgres_;
    std::vector<std::uint16_t> relay_ports_;
    std::string database_;
    std::unique_ptr<test::nats_server> nats_;
    std::unique_ptr<test::nats_cluster> cluster_;
    std::unique_ptr<cluster_network> network_;
    std::unique_ptr<tcp_proxy> nats_link_;
    std::unique_ptr<tcp_proxy> postgres_link_;
    std::array<std::optional<test::relay_process>, 2> relays_;
    std::unique_ptr<test::stream_reader> broker_;
    std::uint64_t markers_ = 0;
};

}  // namespace walrelay::chaos
