// See nats_cluster.hpp.
#include "support/nats_cluster.hpp"

#include "support/eventually.hpp"
#include "support/free_port.hpp"
#include "support/stream_reader.hpp"

#include <stdexcept>

namespace walrelay::test {
namespace {

constexpr std::chrono::seconds patience{60};

std::string name_of(std::size_t index) {
    return "n" + std::to_string(index + 1);
}

using cluster_ports = std::array<std::uint16_t, nats_cluster::size>;

std::string routes_of(std::size_t from, const cluster_ports& ports, const cluster_wiring& wiring) {
    std::string text;
    for (std::size_t to = 0; to < ports.size(); ++to) {
        if (wiring.route && to == from) {
            continue;
        }
        const auto port = wiring.route ? wiring.route(from, to, ports.at(to)) : ports.at(to);
        text += (text.empty() ? "" : ", ") + ("nats://127.0.0.1:" + std::to_string(port));
    }
    return text;
}

std::string cluster_settings(std::size_t index, const cluster_ports& ports,
                             const cluster_wiring& wiring) {
    return "cluster { name: C, listen: \"127.0.0.1:" + std::to_string(ports.at(index)) + "\", " +
           (wiring.advertised_port == 0 && !wiring.clients_know_one_server
                ? ""
                : "no_advertise: true, ") +
           (wiring.advertised_port == 0
                ? ""
                : "advertise: \"127.0.0.1:" + std::to_string(wiring.advertised_port) + "\", ") +
           "routes: [" + routes_of(index, ports, wiring) + "] }";
}

/// A stream can be made only once the meta group has a leader.
bool makes_streams(stream_reader& reader) {
    try {
        reader.create({.name = "READY", .subjects = {"ready"}, .replicas = nats_cluster::size});
        reader.remove("READY");
        return true;
    } catch (const std::runtime_error&) {
        return false;
    }
}

}  // namespace

nats_cluster::nats_cluster(const cluster_wiring& wiring, const std::vector<std::string>& settings,
                           const std::string& program) {
    cluster_ports ports{};
    for (auto& port : ports) {
        port = free_port();
    }
    for (std::size_t index = 0; index < size; ++index) {
        nats_options options{.settings = settings, .program = program};
        options.settings.push_back("server_name: " + name_of(index));
        options.settings.push_back(cluster_settings(index, ports, wiring));
        servers_.at(index) = std::make_unique<nats_server>(options);
    }
    stream_reader reader(urls());
    if (!eventually(patience, [&] { return makes_streams(reader); })) {
        throw std::runtime_error("the cluster does not elect a leader; its logs:\n" + log());
    }
}

nats_server& nats_cluster::server(const std::string& name) {
    return *servers_.at(index_of(name));
}

std::size_t nats_cluster::index_of(const std::string& name) {
    for (std::size_t index = 0; index < size; ++index) {
        if (name == name_of(index)) {
            return index;
        }
    }
    throw std::runtime_error("the cluster has no server \"" + name + "\"");
}

std::string nats_cluster::urls() const {
    std::string text;
    for (const auto& server : servers_) {
        text += (text.empty() ? "" : ",") + server->url();
    }
    return text;
}

std::string nats_cluster::log() const {
    std::string text;
    for (const auto& server : servers_) {
        text += "---- " + server->url() + "\n" + server->log();
    }
    return text;
}

}  // namespace walrelay::test
