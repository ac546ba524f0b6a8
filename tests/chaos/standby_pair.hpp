// A primary and its streaming standby, with the relay's slot on both: by failover slots where the
// server has them (PostgreSQL 17 and newer), else by copying the slot's file, as tools for older
// servers do.
#pragma once

#include "chaos/trial.hpp"

namespace walrelay::chaos {

/// What the arena of such a scenario needs.
void with_standby_server(arena_options& options);

class standby_pair {
public:
    /// The first server of the arena is the primary. The relay's conninfo names both from now on.
    explicit standby_pair(trial& one);

    [[nodiscard]] test::postgres_standby& standby() { return standby_; }
    /// What the slot has confirmed by now is what the standby will know of it.
    void synchronise_slot();
    void catch_up() { standby_.catch_up(where_.postgres()); }
    /// kill -9 of the primary, and the standby takes its place.
    void fail_over();
    /// The same for a primary that is gone already.
    void promote();

private:
    void copy_slot();

    trial& one_;
    arena& where_;
    bool failover_slots_;
    test::postgres_standby& standby_;
    std::optional<test::temporary_folder> saved_;
};

}  // namespace walrelay::chaos
