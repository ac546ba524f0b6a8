// See proxy_flow.hpp.
#include "chaos/proxy_flow.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

namespace walrelay::chaos {
namespace {

constexpr std::uint64_t most_waiting_bytes = 256U << 10U;

bool only_not_now() {
    return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
}

}  // namespace

bool proxy_flow::wants_to_read(const link_rules& rules) const {
    return !ended_ && !rules.black_hole && waiting_bytes_ < most_waiting_bytes;
}

bool proxy_flow::is_due(const link_rules& rules, instant now) const {
    return !waiting_.empty() && waiting_.front().arrived + rules.latency <= now;
}

bool proxy_flow::wants_to_write(const link_rules& rules, instant now) const {
    return !rules.black_hole && is_due(rules, now) && rules.bytes_per_second == 0;
}

bool proxy_flow::waits_for_time(const link_rules& rules) const {
    return !rules.black_hole && !waiting_.empty() &&
           (rules.latency.count() > 0 || rules.bytes_per_second > 0);
}

bool proxy_flow::read_some(instant now) {
    constexpr std::size_t most_bytes = 64U << 10U;
    std::array<char, most_bytes> buffer;
    const auto count = recv(from_, buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (count < 0) {
        return only_not_now();
    }
    if (count == 0) {
        ended_ = true;
        return true;
    }
    std::string bytes(buffer.data(), static_cast<std::size_t>(count));
    if (const auto change = std::exchange(change_first_, {})) {
        bytes = change(std::move(bytes));
    }
    waiting_bytes_ += bytes.size();
    waiting_.push_back({std::move(bytes), now});
    return true;
}

std::size_t proxy_flow::allowed_bytes(const link_rules& rules, const link_meter& meter,
                                      dice& random, instant now) {
    std::uint64_t allowed = waiting_.front().bytes.size();
    if (rules.largest_piece_bytes > 0) {
        allowed = std::min(allowed, random.between(1, rules.largest_piece_bytes));
    }
    if (meter.cut_at) {
        allowed = std::min(allowed, *meter.cut_at - meter.passed_bytes);
    }
    if (rules.bytes_per_second > 0) {
        constexpr std::uint64_t milliseconds_in_second = 1000;
        constexpr std::uint64_t longest_pause = 50;
        const auto passed =
            std::chrono::duration_cast<std::chrono::milliseconds>(now - last_budget_);
        if (passed.count() > 0) {
            const auto time = std::min(static_cast<std::uint64_t>(passed.count()), longest_pause);
            budget_bytes_ = std::min(budget_bytes_ + rules.bytes_per_second * time,
                                     rules.bytes_per_second * longest_pause);
            last_budget_ = now;
        }
        allowed = std::min(allowed, budget_bytes_ / milliseconds_in_second);
        budget_bytes_ -= allowed * milliseconds_in_second;
    }
    return allowed;
}

bool proxy_flow::write_some(const link_rules& rules, link_meter& meter, dice& random, instant now) {
    while (!rules.black_hole && is_due(rules, now)) {
        if (meter.due()) {
            return false;
        }
        auto& front = waiting_.front();
        const auto allowed = allowed_bytes(rules, meter, random, now);
        if (allowed == 0) {
            return true;
        }
        const auto count = send(to_, front.bytes.data(), allowed, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (count < 0) {
            return only_not_now();
        }
        meter.passed_bytes += static_cast<std::uint64_t>(count);
        waiting_bytes_ -= static_cast<std::uint64_t>(count);
        front.bytes.erase(0, static_cast<std::size_t>(count));
        if (front.bytes.empty()) {
            waiting_.pop_front();
        }
    }
    if (ended_ && waiting_.empty() && !end_passed_on_) {
        half_close();
    }
    return !meter.due();
}

void proxy_flow::half_close() {
    shutdown(to_, SHUT_WR);
    ended_ = true;
    end_passed_on_ = true;
    waiting_.clear();
    waiting_bytes_ = 0;
}

}  // namespace walrelay::chaos
