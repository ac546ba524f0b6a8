// Three servers that Patroni keeps, and the etcd that they agree in, all in a temporary folder and
// on free ports of the loopback interface.
#pragma once

#include "patroni/patroni_node.hpp"
#include "support/child_process.hpp"
#include "support/temporary_folder.hpp"

#include <array>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace walrelay::patroni {

inline constexpr const char* slot_name = "walrelay";
inline constexpr const char* database_name = "app";

struct cluster_options {
    std::filesystem::path patroni_programs;
    std::filesystem::path postgres_programs;
    std::string plugin = "pgoutput";
    /// PostgreSQL copies the slot itself (17 and newer); otherwise Patroni does.
    bool failover_slots = false;
    /// Neither does, and Patroni leaves the slot alone.
    bool without_copies = false;
};

/// Everything here throws std::runtime_error where something does not come about in time.
class patroni_cluster {
public:
    /// One leader and two standbys that follow it, and the database.
    explicit patroni_cluster(cluster_options options);

    [[nodiscard]] const cluster_options& options() const { return options_; }
    /// Of all three, for whoever wants the primary.
    [[nodiscard]] std::string conninfo() const;
    [[nodiscard]] test::postgres_session session() const;
    /// Waits until there is one.
    [[nodiscard]] patroni_node& leader();
    [[nodiscard]] std::array<std::unique_ptr<patroni_node>, 3>& nodes() { return nodes_; }
    void wait_for_standbys();

    /// Patroni makes the slot, and copies it to each standby, from now on.
    void keep_slot();
    void wait_for_slot();
    /// Waits until each standby has a copy that would survive a promotion.
    void wait_for_copies();
    /// Whoever makes them makes them anew.
    void drop_copies();
    /// `patronictl edit-config -s <setting>`; does not wait until it is followed.
    void configure(const std::vector<std::string>& settings);
    /// Planned, to a standby; waits until that leads.
    void switch_over();

    void kill_etcd() { etcd_->kill_9(); }
    void start_etcd();

    void keep_logs(const std::filesystem::path& where) const;

private:
    void control(std::vector<std::string> words);
    static void drop_slot_of_standby(const patroni_node& node, const std::string& condition);
    [[nodiscard]] static bool has_slot(const patroni_node& node, const std::string& condition);

    cluster_options options_;
    test::temporary_folder folder_{"patroni"};
    std::uint16_t etcd_peer_port_;
    node_surroundings around_;
    std::optional<test::child_process> etcd_;
    std::array<std::unique_ptr<patroni_node>, 3> nodes_;
};

}  // namespace walrelay::patroni
