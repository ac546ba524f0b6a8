// Three real nats-servers that form a JetStream cluster.
#pragma once

#include "support/nats_server.hpp"

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace walrelay::test {

/// How the servers reach each other where that is not directly.
struct cluster_wiring {
    /// The port at which the server `from` finds the routes of the server `to`, which listens on
    /// `port`.
    std::function<std::uint16_t(std::size_t from, std::size_t to, std::uint16_t port)> route = {};
    /// Where the servers say that they listen for routes, since they tell each other about each
    /// other: nobody should be there.
    std::uint16_t advertised_port = 0;
    /// A client is not told of the servers that it does not connect to.
    bool clients_know_one_server = false;
};

/// Running, with a leader of its meta group, once constructed. Throws std::runtime_error.
class nats_cluster {
public:
    static constexpr std::size_t size = 3;

    /// `settings` are lines for the configuration of each server; `program` as of nats_options.
    explicit nats_cluster(const cluster_wiring& wiring = {},
                          const std::vector<std::string>& settings = {},
                          const std::string& program = {});

    [[nodiscard]] nats_server& server(std::size_t index) { return *servers_.at(index); }
    /// The server with that name, as JetStream tells it; throws if there is none.
    [[nodiscard]] nats_server& server(const std::string& name);
    [[nodiscard]] static std::size_t index_of(const std::string& name);
    /// Of all servers, with commas in between.
    [[nodiscard]] std::string urls() const;
    /// Of all servers.
    [[nodiscard]] std::string log() const;

private:
    std::array<std::unique_ptr<nats_server>, size> servers_;
};

}  // namespace walrelay::test
