// One direction of one proxied connection: takes bytes from a socket, keeps them as long as the
// rules say, and hands them on. Knows neither the other direction nor who makes the rules.
#pragma once

#include "chaos/dice.hpp"

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <utility>

namespace walrelay::chaos {

/// What a direction of a link does to what passes through it.
struct link_rules {
    std::chrono::milliseconds latency{0};
    /// 0 is as fast as it goes.
    std::uint64_t bytes_per_second = 0;
    /// Each write is of a random size up to this; 0 is as it comes.
    std::uint64_t largest_piece_bytes = 0;
    /// Nothing passes and nobody is told; what was on its way arrives once it is over, as it would
    /// from a network that is mended.
    bool black_hole = false;
};

/// Bytes that passed in one direction, over all connections, and where to cut.
struct link_meter {
    std::uint64_t passed_bytes = 0;
    /// Once this many have passed, the connection is reset, and this is empty again.
    std::optional<std::uint64_t> cut_at{};

    [[nodiscard]] bool due() const { return cut_at && passed_bytes >= *cut_at; }
};

class proxy_flow {
public:
    using instant = std::chrono::steady_clock::time_point;

    proxy_flow(int from, int to) : from_(from), to_(to) {}

    [[nodiscard]] bool wants_to_read(const link_rules& rules) const;
    /// Whether something waits that the receiver could have now.
    [[nodiscard]] bool wants_to_write(const link_rules& rules, instant now) const;
    /// Whether time alone will give it something to do.
    [[nodiscard]] bool waits_for_time(const link_rules& rules) const;

    /// Changes what comes first, as far as it comes in one piece.
    void change_first(std::function<std::string(std::string)> how) {
        change_first_ = std::move(how);
    }
    /// False if the connection is broken.
    [[nodiscard]] bool read_some(instant now);
    /// False if the connection is broken, or to be cut now.
    [[nodiscard]] bool write_some(const link_rules& rules, link_meter& meter, dice& random,
                                  instant now);
    /// Tells the receiver that no more comes.
    void half_close();
    /// The sender's end has been passed on.
    [[nodiscard]] bool finished() const { return end_passed_on_; }

private:
    struct piece {
        std::string bytes;
        instant arrived;
    };

    [[nodiscard]] std::size_t allowed_bytes(const link_rules& rules, const link_meter& meter,
                                            dice& random, instant now);
    [[nodiscard]] bool is_due(const link_rules& rules, instant now) const;

    int from_;
    int to_;
    std::deque<piece> waiting_;
    std::function<std::string(std::string)> change_first_;
    std::uint64_t waiting_bytes_ = 0;
    bool ended_ = false;
    bool end_passed_on_ = false;
    instant last_budget_{};
    std::uint64_t budget_bytes_ = 0;
};

}  // namespace walrelay::chaos
