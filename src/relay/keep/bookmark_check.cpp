#include "relay/keep/bookmark_check.hpp"

#include "core/joined.hpp"

#include <vector>

namespace walrelay::relay {
namespace {

constexpr std::int64_t slots_left_least = 2;

error trouble_with_slot(const std::string& slot, const char* why, const char* fix) {
    return {errc::postgres_unsuitable, "no bookmark can be made of slot " + slot + ": " + why, fix};
}

std::optional<error> trouble_with_name(const bookmark_wish& wanted, const kept_positions& found) {
    if (const auto fix = trouble_with_bookmark_name(wanted.slot, wanted.name)) {
        return error{errc::configuration_invalid, "a bookmark cannot have that name", *fix};
    }
    const auto* const taken = find_bookmark(found, wanted.name);
    if (taken == nullptr) {
        return std::nullopt;
    }
    return error{errc::configuration_invalid,
                 "there is a bookmark " + taken->name + " already (slot " + taken->slot + ", " +
                     to_string(taken->state) + ")",
                 "choose another name; walrelay bookmark list shows those that are taken"};
}

/// What an operator may insist on.
std::vector<std::string> dangers_of(const bookmark_wish& wanted, const kept_positions& found) {
    std::vector<std::string> dangers;
    if (const auto left = slots_left_after(found); left < slots_left_least) {
        dangers.emplace_back(
            "only " + std::to_string(left) +
            " of max_replication_slots would be free for standbys and replays (raise "
            "it, which takes a restart of PostgreSQL)");
    }
    const bool outlives = !wanted.expires_after || *wanted.expires_after > found.idle_timeout;
    if (found.idle_timeout.count() > 0 && outlives) {
        dangers.emplace_back(
            "PostgreSQL ends it after idle_replication_slot_timeout, " +
            std::to_string(found.idle_timeout.count()) +
            " s, before it expires (give a shorter --expires, or set the parameter to 0)");
    }
    if (!wanted.expires_after && !found.wal_limit_bytes) {
        dangers.emplace_back(
            "nothing bounds the WAL that it holds (give --expires, or set "
            "max_slot_wal_keep_size)");
    }
    return dangers;
}

}  // namespace

std::int64_t slots_left_after(const kept_positions& found) {
    return found.slots_free - 1;
}

std::optional<error> trouble_with_bookmark(const bookmark_wish& wanted,
                                           const kept_positions& found) {
    if (auto trouble = trouble_with_name(wanted, found)) {
        return trouble;
    }
    if (found.in_recovery) {
        return trouble_with_slot(wanted.slot, "this server is a standby",
                                 "name the primary in postgres.conninfo");
    }
    if (!found.source) {
        return trouble_with_slot(wanted.slot, "there is no such slot in this database",
                                 "walrelay init, or set postgres.slot to the relay's slot");
    }
    if (!found.source->restart || found.source->wal_status == "lost") {
        return trouble_with_slot(wanted.slot, "PostgreSQL has removed its WAL",
                                 "walrelay run says how to go on");
    }
    if (slots_left_after(found) < 1) {
        return trouble_with_slot(
            wanted.slot, "it would take the last free replication slot, or there is none",
            "drop a bookmark that is not needed (walrelay bookmark list), or raise "
            "max_replication_slots and restart PostgreSQL");
    }
    const auto dangers = dangers_of(wanted, found);
    if (wanted.insists || dangers.empty()) {
        return std::nullopt;
    }
    return error{errc::postgres_unsuitable,
                 "bookmark " + wanted.name + " was not made: " + joined(dangers, "; "),
                 "do what stands in brackets, or accept it with --force"};
}

}  // namespace walrelay::relay
