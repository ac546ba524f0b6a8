// What a fault is: how the arena must be set up for it, and how it is done and undone once.
#pragma once

#include "chaos/arena.hpp"
#include "chaos/dice.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace walrelay::chaos {

struct outcome;
struct scenario;
struct storm_plan;

struct scenario {
    std::string name;
    /// For --list and the documentation.
    std::string what;
    /// Makes the fault and takes it away again; when it returns, the cause is gone.
    std::function<void(arena&, dice&)> fire;
    /// Changes the options of the arena; may be empty.
    std::function<void(arena_options&)> arrange = {};
    /// Gaps between two faults are drawn evenly from here.
    std::chrono::milliseconds shortest_gap{200};
    std::chrono::milliseconds longest_gap{2000};
    /// Run with every nats-server that there is, not just with the usual one.
    bool every_broker = false;
    /// The same with every PostgreSQL, from this version on.
    bool every_postgres = false;
    int oldest_postgres = 0;
    /// The fault shows the judge itself a stream that is not the real one, so that it cannot be
    /// said whether the slot was too early.
    bool hides_stream = false;
    /// Until a row that is committed after the fault is in the stream. The short form, which shares
    /// the machine with other tests, does not judge that.
    std::chrono::seconds recovery_limit{10};
    /// Runs in the long form; the others run with --rest.
    bool in_long_form = false;
    /// Unless --times says otherwise.
    std::uint64_t usual_times = 5;
    /// How often in these forms, over all plugins and brokers, and during how many rows at least.
    std::uint64_t long_times = 8;
    std::uint64_t long_rows = 16000;
    /// In place of a storm, for what does not fit into one; then `fire` is empty.
    std::function<outcome(const scenario&, const storm_plan&)> run = {};
};

[[nodiscard]] std::vector<scenario> relay_scenarios();
[[nodiscard]] std::vector<scenario> postgres_scenarios();
[[nodiscard]] std::vector<scenario> broker_scenarios();
[[nodiscard]] std::vector<scenario> cluster_scenarios();
[[nodiscard]] std::vector<scenario> network_scenarios();
[[nodiscard]] std::vector<scenario> position_scenarios();
[[nodiscard]] std::vector<scenario> failover_scenarios();
[[nodiscard]] std::vector<scenario> partition_scenarios();
[[nodiscard]] std::vector<scenario> replay_scenarios();
[[nodiscard]] std::vector<scenario> healing_scenarios();

/// Lets the duration of a fault pass; the duration is part of the fault, not a wait for anything.
void pass(std::chrono::milliseconds duration);
/// kill -9 of the relay that leads; its standby takes over, and it is started again.
void kill_leading_relay(arena& where, dice& random);

}  // namespace walrelay::chaos
