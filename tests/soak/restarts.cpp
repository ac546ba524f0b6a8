// See restarts.hpp.
#include "soak/restarts.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <stdexcept>
#include <string>

namespace walrelay::soak {
namespace {

void kill_relay(chaos::arena& where) {
    where.relay().kill_9();
    where.start_relay();
}

void stop_relay(chaos::arena& where) {
    constexpr std::chrono::seconds patience{60};
    const auto code = where.relay().stop(patience);
    if (code != 0) {
        throw std::runtime_error("the relay does not end with 0 on SIGTERM, but " +
                                 (code ? "with " + std::to_string(*code) : "not at all"));
    }
    where.start_relay();
}

void kill_broker(chaos::arena& where) {
    where.nats().kill_9();
    where.nats().start();
}

void restart_postgres(chaos::arena& where) {
    where.postgres().stop(test::postgres_stop::fast);
    where.postgres().start();
}

void crash_postgres(chaos::arena& where) {
    where.postgres().stop(test::postgres_stop::immediate);
    where.postgres().start();
}

struct way {
    const char* kind;
    void (*run)(chaos::arena&);
    bool of_broker;
    bool of_postgres;
};

constexpr std::array<way, 6> ways{{
    {"kill -9 of walrelay", kill_relay, true, true},
    {"immediate restart of PostgreSQL", crash_postgres, false, true},
    {"kill -9 of nats-server", kill_broker, true, false},
    {stop_of_relay, stop_relay, true, true},
    {"fast restart of PostgreSQL", restart_postgres, false, true},
    {"kill -9 of nats-server", kill_broker, true, false},
}};

std::optional<moment> first_after(const std::vector<log_line>& log, const moment begun,
                                  const std::string& beginning) {
    const auto found = std::find_if(log.begin(), log.end(), [&](const log_line& line) {
        return line.when >= begun && line.text.starts_with(beginning);
    });
    return found == log.end() ? std::nullopt : std::optional(found->when);
}

}  // namespace

restart_record restart(chaos::arena& where, std::size_t number) {
    const auto& chosen = ways.at(number % ways.size());
    restart_record record{.kind = chosen.kind,
                          .begun = clock::now(),
                          .of_broker = chosen.of_broker,
                          .of_postgres = chosen.of_postgres};
    chosen.run(where);
    record.over = clock::now();
    return record;
}

period excuse_of(const restart_record& fault, const std::vector<log_line>& log) {
    const auto limit = fault.over + reconnect_limit;
    moment until = fault.over;
    const auto wait_for = [&](bool concerned, const char* line) {
        if (concerned) {
            until = std::max(until, first_after(log, fault.begun, line).value_or(limit));
        }
    };
    wait_for(fault.of_broker, "connected to the broker");
    wait_for(fault.of_postgres, "streaming from slot");
    return {fault.begun, std::min(until, limit) + catch_up_limit};
}

}  // namespace walrelay::soak
