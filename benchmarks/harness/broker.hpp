// The broker that a measurement lies on: one nats-server, or three that each keep every message.
#pragma once

#include "support/nats_cluster.hpp"
#include "support/nats_server.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace walrelay::bench {

struct broker_kind {
    /// nats-server with its path; empty for the one that tests take.
    std::string program = {};
    /// 1 or 3: so many servers, and replicas of the stream.
    std::size_t replicas = 1;
};

/// Which server of a cluster the contenders connect to.
enum class broker_role { any, leader, follower };

/// Running once constructed. The servers of a cluster do not tell their clients of each other, so
/// that each client stays where it is put. Throws std::runtime_error.
class broker {
public:
    explicit broker(const broker_kind& kind = {});

    /// Of all servers, with commas in between.
    [[nodiscard]] std::string url() const;
    /// Of a server with that role, where `leader` is the name of the one that leads the stream.
    [[nodiscard]] std::string url_of(broker_role role, const std::string& leader) const;
    [[nodiscard]] std::size_t replicas() const { return kind_.replicas; }
    /// User and system time of all its servers so far.
    [[nodiscard]] double processor_seconds() const;

private:
    broker_kind kind_;
    std::unique_ptr<test::nats_server> single_;
    std::unique_ptr<test::nats_cluster> cluster_;
};

}  // namespace walrelay::bench
