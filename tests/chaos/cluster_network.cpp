// See cluster_network.hpp.
#include "chaos/cluster_network.hpp"

namespace walrelay::chaos {

cluster_network::cluster_network() {
    nowhere_.refuse(true);
    cluster_ = std::make_unique<test::nats_cluster>(wiring());
    for (std::size_t index = 0; index < test::nats_cluster::size; ++index) {
        clients_.push_back(std::make_unique<tcp_proxy>(cluster_->server(index).port()));
    }
}

test::cluster_wiring cluster_network::wiring() {
    return {.route =
                [this](std::size_t from, std::size_t to, std::uint16_t port) {
                    routes_.push_back({from, to, std::make_unique<tcp_proxy>(port)});
                    return routes_.back().proxy->port();
                },
            .advertised_port = nowhere_.port()};
}

std::string cluster_network::client_urls() const {
    std::string text;
    for (const auto& proxy : clients_) {
        text += (text.empty() ? "" : ",") + ("nats://127.0.0.1:" + std::to_string(proxy->port()));
    }
    return text;
}

void cluster_network::cut_off(std::size_t server, bool refuse_clients) {
    for (const auto& each : routes_) {
        if (each.from == server || each.to == server) {
            each.proxy->refuse(true);
        }
    }
    if (refuse_clients) {
        clients_.at(server)->refuse(true);
    } else {
        clients_.at(server)->reset_all();
    }
}

void cluster_network::heal() {
    for (const auto& each : routes_) {
        each.proxy->refuse(false);
    }
    for (const auto& proxy : clients_) {
        proxy->refuse(false);
    }
}

void cluster_network::set_routes(const link_rules& rules) {
    for (const auto& each : routes_) {
        each.proxy->set(direction::to_server, rules);
        each.proxy->set(direction::to_client, rules);
    }
}

}  // namespace walrelay::chaos
