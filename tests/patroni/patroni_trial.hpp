// A cluster that Patroni keeps, a broker, a relay and its standby, and a service that writes; at
// the end the audit of the table against the stream.
#pragma once

#include "patroni/patroni_cluster.hpp"
#include "patroni/sql_loop.hpp"
#include "support/comparison.hpp"
#include "support/nats_server.hpp"
#include "support/relay_process.hpp"
#include "support/stream_reader.hpp"
#include "support/temporary_folder.hpp"

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace walrelay::patroni {

struct trial_options {
    std::filesystem::path relay_program;
    cluster_options cluster;
    unsigned rounds = 2;
};

struct verdict {
    std::uint64_t rows = 0;
    std::uint64_t missing = 0;
    std::uint64_t twice = 0;
    std::uint64_t out_of_order = 0;
    /// In the stream alone: the database has lost them in a failover. No fault of the relay.
    std::uint64_t lost_by_database = 0;
    /// The relay has halted, and what it said.
    std::optional<std::string> halt = {};
    bool healed = false;
    std::vector<std::string> complaints = {};
};

/// Everything here throws std::runtime_error where something does not come about in time. Used from
/// one thread, which starts all processes.
class patroni_trial {
public:
    /// Returns once rows come through.
    explicit patroni_trial(trial_options options);

    [[nodiscard]] const trial_options& options() const { return options_; }
    [[nodiscard]] patroni_cluster& cluster() { return cluster_; }
    [[nodiscard]] test::nats_server& broker() { return broker_; }
    /// Until the service has committed so many transactions more.
    void wait_for_commits(std::uint64_t more);
    /// Transactions on another table, of which there is always one that has not ended.
    void start_long_transactions();
    void start_relays();
    /// SIGTERM, as for an upgrade.
    void stop_relays();

    /// The fault is over: lets the service end, and waits for what comes of it. Every row of the
    /// table is in the stream once and in order, or the relay has halted for good, and heals.
    [[nodiscard]] verdict judge();
    void keep_logs(const std::filesystem::path& where);

private:
    void make_tables_and_slot();
    void configure_relays(bool heal);
    [[nodiscard]] test::relay_start words_of(const std::vector<std::string>& words,
                                             const std::string& name) const;
    [[nodiscard]] std::string log_of(unsigned index) const;
    /// An end that is no halt is one that a service manager starts again.
    void tend_relays();
    [[nodiscard]] bool is_halted() const { return halted_.has_value(); }
    [[nodiscard]] bool has_everything();
    void wait_for_the_end();
    void judge_halt(verdict& found);
    void heal(verdict& found);
    [[nodiscard]] test::comparison compare_all();
    void add(verdict& found, const test::comparison& seen) const;

    trial_options options_;
    test::temporary_folder folder_{"patroni-relay"};
    test::nats_server broker_;
    patroni_cluster cluster_;
    test::stream_reader stream_;
    std::array<std::optional<test::relay_process>, 2> relays_;
    std::optional<unsigned> halted_;
    std::vector<std::string> odd_ends_;
    std::optional<sql_loop> service_;
    std::array<std::optional<sql_loop>, 2> long_transactions_;
};

}  // namespace walrelay::patroni
