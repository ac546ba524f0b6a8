// One server of a cluster that Patroni keeps: a Patroni and the PostgreSQL that it starts. Each can
// be killed without the other.
#pragma once

#include "support/child_process.hpp"
#include "support/postgres_session.hpp"

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace walrelay::patroni {

/// What all nodes of a cluster share.
struct node_surroundings {
    /// Of the Python that Patroni is installed for.
    std::filesystem::path patroni_programs;
    std::filesystem::path postgres_programs;
    /// Belongs to the account that the servers run as.
    std::filesystem::path folder;
    std::uint16_t etcd_port = 0;
    /// The leader's slot is left alone, and no standby has a copy of it.
    bool leaves_slot_alone = false;
    /// A standby copies it by itself (PostgreSQL 17 and newer).
    bool synchronizes_slots = false;
};

/// Everything here throws std::runtime_error.
class patroni_node {
public:
    patroni_node(const node_surroundings& around, int number);
    ~patroni_node();
    patroni_node(const patroni_node&) = delete;
    patroni_node& operator=(const patroni_node&) = delete;

    [[nodiscard]] const std::string& name() const { return name_; }
    [[nodiscard]] std::uint16_t port() const { return port_; }
    [[nodiscard]] std::filesystem::path configuration() const;
    [[nodiscard]] test::postgres_session session(const std::string& database) const;

    /// Patroni alone; it starts PostgreSQL, or takes over the one that runs.
    void start();
    void kill_patroni() { patroni_->kill_9(); }
    void kill_postgres() const;
    /// Holds the leader's lock, and its PostgreSQL is the primary.
    [[nodiscard]] bool leads() const;
    /// Its PostgreSQL is a standby that streams from the leader.
    [[nodiscard]] bool follows() const;
    [[nodiscard]] std::string log() const;

private:
    [[nodiscard]] std::optional<pid_t> postmaster() const;
    [[nodiscard]] std::filesystem::path data() const;
    void write_configuration() const;
    [[nodiscard]] int status_of(const std::string& target) const;

    const node_surroundings& around_;
    std::string name_;
    std::uint16_t port_;
    std::uint16_t rest_port_;
    std::optional<test::child_process> patroni_;
};

}  // namespace walrelay::patroni
