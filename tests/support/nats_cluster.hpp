// Three real nats-servers that form a JetStream cluster.
#pragma once

#include "support/nats_server.hpp"

#include <array>
#include <memory>
#include <string>

namespace walrelay::test {

/// Running, with a leader of its meta group, once constructed. Throws std::runtime_error.
class nats_cluster {
public:
    static constexpr std::size_t size = 3;

    nats_cluster();

    [[nodiscard]] nats_server& server(std::size_t index) { return *servers_.at(index); }
    /// The server with that name, as JetStream tells it; throws if there is none.
    [[nodiscard]] nats_server& server(const std::string& name);
    /// Of all servers, with commas in between.
    [[nodiscard]] std::string urls() const;
    /// Of all servers.
    [[nodiscard]] std::string log() const;

private:
    std::array<std::unique_ptr<nats_server>, size> servers_;
};

}  // namespace walrelay::test
