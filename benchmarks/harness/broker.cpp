#include "harness/broker.hpp"

#include "harness/process_use.hpp"

namespace walrelay::bench {

broker::broker(const broker_kind& kind) : kind_(kind) {
    if (kind_.replicas > 1) {
        cluster_ = std::make_unique<test::nats_cluster>(
            test::cluster_wiring{.clients_know_one_server = true}, std::vector<std::string>{},
            kind_.program);
    } else {
        single_ = std::make_unique<test::nats_server>(test::nats_options{.program = kind_.program});
    }
}

std::string broker::url() const {
    return single_ ? single_->url() : cluster_->urls();
}

std::string broker::url_of(broker_role role, const std::string& leader) const {
    if (single_ || role == broker_role::any) {
        return url();
    }
    const auto leads = test::nats_cluster::index_of(leader);
    const auto which = role == broker_role::leader ? leads : (leads + 1) % test::nats_cluster::size;
    return cluster_->server(which).url();
}

double broker::processor_seconds() const {
    if (single_) {
        return bench::processor_seconds(single_->pid());
    }
    double sum = 0;
    for (std::size_t index = 0; index < test::nats_cluster::size; ++index) {
        sum += bench::processor_seconds(cluster_->server(index).pid());
    }
    return sum;
}

}  // namespace walrelay::bench
