// The one judge of all scenarios: the outbox table and the order of commits, as PostgreSQL tells
// them, against the stream.
#pragma once

#include "chaos/arena.hpp"
#include "chaos/confirmed_watch.hpp"
#include "support/commit_order.hpp"

#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace walrelay::chaos {

struct verdict {
    std::uint64_t rows = 0;
    std::uint64_t lost = 0;
    std::uint64_t duplicated = 0;
    /// Out of commit order, or with a position that does not follow its predecessor's.
    std::uint64_t inverted = 0;
    /// In the stream, but of no committed row.
    std::uint64_t phantom = 0;
    /// Subject, header or body differ from the row.
    std::uint64_t altered = 0;
    /// Samples in which the slot had moved past a row that the stream did not have, or back.
    std::uint64_t confirmed_early = 0;
    /// For people: the first few of each.
    std::string details{};

    [[nodiscard]] bool flawless() const;
    void add(const verdict& other);
};

struct audit_input {
    test::commit_order& order;
    const confirmed_watch& watch;
    /// Ids of rows that are in the dead letters and must not be in the stream.
    std::set<std::string> set_aside = {};
};

/// The writers and the relay have stopped. Throws std::runtime_error if a server does not answer,
/// or if PostgreSQL contradicts itself.
[[nodiscard]] verdict audit(arena& where, const audit_input& input);

}  // namespace walrelay::chaos
