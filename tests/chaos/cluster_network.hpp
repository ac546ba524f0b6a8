// The links of a cluster of nats-servers, each through a proxy of its own: between every two
// servers, and from clients to every server. One server can be cut off from the others, and from
// clients.
#pragma once

#include "chaos/tcp_proxy.hpp"
#include "support/nats_cluster.hpp"

#include <memory>
#include <string>
#include <vector>

namespace walrelay::chaos {

class cluster_network {
public:
    cluster_network();

    [[nodiscard]] test::nats_cluster& cluster() { return *cluster_; }
    /// Of all servers, through the proxies.
    [[nodiscard]] std::string client_urls() const;
    /// Its routes end and no new one comes about. Its clients' connections end; new ones come about
    /// unless `refuse_clients`.
    void cut_off(std::size_t server, bool refuse_clients);
    void heal();
    /// Of all routes; what waits in them when they are cut is lost.
    void set_routes(const link_rules& rules);

private:
    struct route {
        std::size_t from;
        std::size_t to;
        std::unique_ptr<tcp_proxy> proxy;
    };

    [[nodiscard]] test::cluster_wiring wiring();

    /// Leads nowhere.
    tcp_proxy nowhere_{0};
    std::vector<route> routes_;
    std::unique_ptr<test::nats_cluster> cluster_;
    std::vector<std::unique_ptr<tcp_proxy>> clients_;
};

}  // namespace walrelay::chaos
