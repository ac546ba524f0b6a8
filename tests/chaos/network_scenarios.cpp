// Faults of the network between the relay and its servers. See scenario.hpp.
#include "chaos/scenario.hpp"

namespace walrelay::chaos {
namespace {

using namespace std::chrono_literals;

using link_of = tcp_proxy& (arena::*)();

constexpr direction both_directions[] = {direction::to_server, direction::to_client};

void with_proxies(arena_options& options) {
    options.proxies = true;
}

direction one_of_both(dice& random) {
    return random.one_in(2) ? direction::to_server : direction::to_client;
}

/// Both directions obey for that long, then all is well again.
void disturb(tcp_proxy& link, const link_rules& rules, std::chrono::milliseconds duration) {
    for (const auto which : both_directions) {
        link.set(which, rules);
    }
    pass(duration);
    link.heal();
}

void black_hole(tcp_proxy& link, dice& random) {
    const auto duration = random.duration(500ms, 15s);
    const link_rules swallow{.black_hole = true};
    if (random.one_in(3)) {
        disturb(link, swallow, duration);
    } else {
        link.set(one_of_both(random), swallow);
        pass(duration);
        link.heal();
    }
}

void slow_down(tcp_proxy& link, dice& random) {
    link_rules rules{.latency = random.duration(20ms, 400ms)};
    if (random.one_in(2)) {
        rules.bytes_per_second = random.between(32U << 10U, 256U << 10U);
    }
    disturb(link, rules, random.duration(500ms, 5s));
}

void slice(tcp_proxy& link, dice& random) {
    constexpr std::uint64_t most_bytes = 7;
    disturb(link, {.largest_piece_bytes = most_bytes}, random.duration(500ms, 3s));
}

void cut_somewhere(tcp_proxy& link, dice& random) {
    constexpr std::uint64_t most_bytes = 200000;
    link.cut_after(one_of_both(random), random.between(1, most_bytes));
    pass(random.duration(50ms, 1s));
    link.restart_count();
    link.reset_all();
}

scenario on_link(const std::string& name, const std::string& what, link_of link,
                 void (*fire)(tcp_proxy&, dice&)) {
    return {.name = name,
            .what = what,
            .fire = [link, fire](arena& where, dice& random) { fire((where.*link)(), random); },
            .arrange = with_proxies};
}

void half_close(tcp_proxy& link, dice& random) {
    link.half_close_all(one_of_both(random));
}

}  // namespace

std::vector<scenario> network_scenarios() {
    std::vector<scenario> all;
    const auto add = [&](const std::string& kind, const std::string& what,
                         void (*fire)(tcp_proxy&, dice&)) {
        all.push_back(on_link(kind + "_nats", what + ", to nats-server", &arena::nats_link, fire));
        all.push_back(
            on_link(kind + "_postgres", what + ", to PostgreSQL", &arena::postgres_link, fire));
    };
    add("net_reset", "a reset behind a random byte, and another 0.05 to 1 s later", cut_somewhere);
    add("net_half_close", "one end says that it sends no more", half_close);
    add("net_blackhole", "nothing passes in one or both directions for 0.5 to 15 s", black_hole);
    add("net_slow", "20 to 400 ms more, and half of the times 32 to 256 KiB/s, for 0.5 to 5 s",
        slow_down);
    add("net_slice", "every write in pieces of 1 to 7 bytes, for 0.5 to 3 s", slice);
    return all;
}

}  // namespace walrelay::chaos
