// See cut_sweep.hpp. A session begins with the relay's new connection, which its proxy forces by
// resetting the old one, and has a few rows in it.
#include "chaos/cut_sweep.hpp"

#include "chaos/transaction_maker.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace walrelay::chaos {
namespace {

struct swept_link {
    const char* name;
    tcp_proxy& link;
    direction which;
};

class sweep {
public:
    explicit sweep(trial& one) : one_(one), maker_("sweep", 1, one.plan().seed) {}

    void run() {
        one_.start();
        auto& nats = one_.where().nats_link();
        auto& postgres = one_.where().postgres_link();
        const swept_link links[] = {{"relay to nats-server", nats, direction::to_server},
                                    {"nats-server to relay", nats, direction::to_client},
                                    {"relay to PostgreSQL", postgres, direction::to_server},
                                    {"PostgreSQL to relay", postgres, direction::to_client}};
        for (const auto& each : links) {
            sweep_one(each);
        }
        one_.drain();
        one_.judge();
    }

private:
    /// A new connection, with a few rows in the middle of its beginning.
    void session(tcp_proxy& link) {
        link.reset_all();
        const auto rows = maker_.next();
        auto writer = one_.where().session();
        writer.execute(rows.beginning);
        writer.execute(rows.ending);
        one_.recover();
    }

    std::uint64_t record(const swept_link& each) {
        constexpr int sessions = 3;
        std::uint64_t most = 0;
        for (int count = 0; count < sessions; ++count) {
            each.link.restart_count();
            session(each.link);
            most = std::max(most, each.link.passed_bytes(each.which));
        }
        return most;
    }

    void sweep_one(const swept_link& each) {
        constexpr std::uint64_t kinds = 4;
        const auto bytes = record(each);
        const auto wanted = std::max<std::uint64_t>(one_.plan().times / kinds, 1);
        const std::uint64_t stride = std::max<std::uint64_t>(bytes / wanted, 1);
        for (std::uint64_t offset = 1 + one_.plan().seed % stride; offset <= bytes;
             offset += stride) {
            each.link.cut_after(each.which, offset);
            try {
                session(each.link);
            } catch (const std::runtime_error& failure) {
                throw std::runtime_error(fmt::format("{}, cut behind byte {} of {}: {}", each.name,
                                                     offset, bytes, failure.what()));
            }
            one_.result().times += each.link.cut_pending(each.which) ? 0U : 1U;
            each.link.restart_count();
        }
    }

    trial& one_;
    transaction_maker maker_;
};

}  // namespace

outcome run_cut_sweep(const scenario& what, const storm_plan& plan) {
    outcome result{.fault = what.name, .plugin = plan.plugin};
    auto options = options_for(plan);
    options.proxies = true;
    options.delivery = "backoff_initial = '10ms'\n";
    run_trial(plan, options, result, [](trial& one) { sweep(one).run(); });
    return result;
}

std::vector<scenario> sweep_scenarios() {
    constexpr std::uint64_t cuts = 800;
    return {{.name = "cut_every_byte",
             .what = "a reset behind each byte of a small session, on both links, both ways",
             .fire = {},
             .long_times = cuts,
             .run = run_cut_sweep}};
}

}  // namespace walrelay::chaos
