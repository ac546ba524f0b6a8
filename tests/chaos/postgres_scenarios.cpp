// Faults of PostgreSQL. See scenario.hpp.
#include "chaos/scenario.hpp"
#include "support/eventually.hpp"

#include <csignal>
#include <optional>
#include <stdexcept>

namespace walrelay::chaos {
namespace {

using namespace std::chrono_literals;

constexpr std::chrono::seconds patience{90};

bool answers(arena& where) {
    try {
        where.session().execute("SELECT");
        return true;
    } catch (const std::runtime_error&) {
        return false;
    }
}

int wait_for_walsender(arena& where) {
    std::optional<int> process;
    const bool found = test::eventually(patience, [&] {
        process = where.walsender();
        return process.has_value();
    });
    if (!found) {
        throw std::runtime_error("nobody streams from the slot");
    }
    return *process;
}

/// PostgreSQL ends all sessions and recovers, as after a crash of its own.
void kill_walsender(arena& where, dice& /*random*/) {
    auto witness = where.session();
    ::kill(wait_for_walsender(where), SIGKILL);
    const bool crashed = test::eventually(patience, [&] {
        try {
            witness.execute("SELECT");
            return false;
        } catch (const std::runtime_error&) {
            return true;
        }
    });
    if (!crashed || !test::eventually(patience, [&] { return answers(where); })) {
        throw std::runtime_error("PostgreSQL does not recover from a killed walsender");
    }
}

void terminate_walsender(arena& where, dice& /*random*/) {
    where.session().execute("SELECT pg_terminate_backend(" +
                            std::to_string(wait_for_walsender(where)) + ")");
}

void pause_walsender(arena& where, dice& random) {
    const int process = wait_for_walsender(where);
    ::kill(process, SIGSTOP);
    pass(random.duration(100ms, 12s));
    ::kill(process, SIGCONT);
}

void crash_postgres(arena& where, dice& /*random*/) {
    where.postgres().stop(test::postgres_stop::immediate);
    where.postgres().start();
}

void restart_postgres(arena& where, dice& /*random*/) {
    constexpr std::chrono::seconds longest_stop{10};
    where.postgres().stop(test::postgres_stop::fast, longest_stop);
    where.postgres().start();
}

void outage_of_postgres(arena& where, dice& random) {
    where.postgres().kill_9();
    pass(random.duration(1s, 8s));
    where.postgres().start();
}

}  // namespace

std::vector<scenario> postgres_scenarios() {
    return {
        {.name = "walsender_kill",
         .what = "kill -9 of the walsender: PostgreSQL crashes and recovers",
         .fire = kill_walsender},
        {.name = "walsender_terminate",
         .what = "pg_terminate_backend() on the walsender",
         .fire = terminate_walsender,
         .long_times = 20},
        {.name = "walsender_pause",
         .what = "SIGSTOP of the walsender for 0.1 to 12 s",
         .fire = pause_walsender,
         .long_times = 6},
        {.name = "postgres_crash",
         .what = "pg_ctl stop -m immediate and start, with checkpoint_timeout = 30min",
         .fire = crash_postgres,
         .in_long_form = true,
         .long_times = 50,
         .long_rows = 50000},
        {.name = "postgres_restart",
         .what = "pg_ctl stop -m fast, which must not wait for the relay, and start",
         .fire = restart_postgres},
        {.name = "postgres_outage",
         .what = "kill -9 of the postmaster, and a start 1 to 8 s later",
         .fire = outage_of_postgres,
         .long_times = 6},
    };
}

}  // namespace walrelay::chaos
