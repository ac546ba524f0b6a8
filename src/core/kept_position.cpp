#include "core/kept_position.hpp"

#include "core/ascii.hpp"

#include <algorithm>

namespace walrelay {
namespace {

/// NAMEDATALEN - 1.
constexpr std::size_t kept_slot_name_max = 63;
constexpr std::string_view bookmark_infix = "_at_";

bool is_bookmark_letter(char letter) {
    return is_lower(letter) || is_digit(letter) || letter == '_' || letter == '-';
}

}  // namespace

const char* to_string(giving_way why) {
    constexpr std::array<const char*, giving_way_count> names{
        "expired", "max_wal", "slot_in_danger", "no_free_slot", "lost", "unwanted"};
    return names.at(static_cast<std::size_t>(why));
}

std::uint64_t held_bytes_of(const kept_positions& of) {
    std::uint64_t most = 0;
    for (const auto& each : of.all) {
        most = std::max(most, each.held_bytes);
    }
    return most;
}

std::uint64_t remaining_rows_of(const kept_positions& of) {
    std::uint64_t remaining = 0;
    for (const auto& each : of.replays) {
        remaining += each.rows_planned - std::min(each.rows_planned, each.rows_written);
    }
    return remaining;
}

const kept_position* find_bookmark(const kept_positions& in, std::string_view name) {
    std::string as_slot(name);
    std::ranges::replace(as_slot, '-', '_');
    const auto has_name = [&](const kept_position& each) {
        auto its_name = each.name;
        std::ranges::replace(its_name, '-', '_');
        return each.kind == kept_kind::bookmark && its_name == as_slot;
    };
    const auto found = std::ranges::find_if(in.all, has_name);
    return found == in.all.end() ? nullptr : &*found;
}

const kept_position* find_trail(const kept_positions& in) {
    const auto found = std::ranges::find(in.all, kept_kind::trail, &kept_position::kind);
    return found == in.all.end() ? nullptr : &*found;
}

result<void> require_as_kept(const kept_position& one) {
    if (one.state != kept_state::kept || !one.confirmed) {
        return error{errc::position_not_kept,
                     "nothing can be read from slot " + one.slot +
                         " any more: PostgreSQL has removed its WAL",
                     "walrelay bookmark list shows what is still kept"};
    }
    if (one.made_at_lsn) {
        return error{errc::position_not_kept,
                     "the bookmark of slot " + one.slot + " was made at LSN " +
                         to_string(*one.made_at_lsn) + ", and the slot stands at LSN " +
                         to_string(*one.confirmed) +
                         ": somebody has moved it or made it again, so that it does not have what "
                         "the bookmark was to keep",
                     "walrelay bookmark list shows what is kept; what the slot has now can be "
                     "replayed with --from " +
                         to_string(*one.confirmed)};
    }
    return {};
}

std::string trail_slot_name(std::string_view slot) {
    return std::string(slot) + "_trail";
}

std::string bookmark_slot_name(std::string_view slot, std::string_view name) {
    std::string made = std::string(slot) + std::string(bookmark_infix) + std::string(name);
    std::ranges::replace(made, '-', '_');
    return made;
}

std::optional<std::string> trouble_with_bookmark_name(std::string_view slot,
                                                      std::string_view name) {
    if (name.empty() || !std::ranges::all_of(name, is_bookmark_letter)) {
        return "use the letters a-z, digits, _ and - alone";
    }
    const auto taken = slot.size() + bookmark_infix.size();
    if (taken >= kept_slot_name_max) {
        return "the slot's name is too long for any: use a postgres.slot of at most 50 characters";
    }
    const auto room = kept_slot_name_max - taken;
    if (name.size() > room) {
        return "use at most " + std::to_string(room) +
               " characters: with the slot's name in front, the name of a slot has at most 63";
    }
    return std::nullopt;
}

}  // namespace walrelay
