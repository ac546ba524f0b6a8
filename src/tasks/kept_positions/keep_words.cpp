// What keep_round says in the log.
#include "tasks/kept_positions/keep_words.hpp"

#include "config/read.hpp"
#include "log/log.hpp"
#include "tasks/kept_positions/keep_round.hpp"

#include <fmt/format.h>

#include <utility>

namespace walrelay::tasks {
namespace {

using namespace std::chrono_literals;

std::string in_megabytes(std::uint64_t bytes) {
    constexpr double megabyte = 1e6;
    return fmt::format("{:.1f} MB", static_cast<double>(bytes) / megabyte);
}

std::string cause_of(giving_way why, const kept_position& of, byte_size max_wal) {
    switch (why) {
        case giving_way::expired:
            return "it has expired";
        case giving_way::max_wal:
            return fmt::format("it held {} of WAL, more than replay.max_wal ({}) allows",
                               in_megabytes(of.held_bytes), config::show(max_wal));
        case giving_way::slot_in_danger:
            return fmt::format("it held {} of WAL, and the relay's slot is about to lose its own",
                               in_megabytes(of.held_bytes));
        case giving_way::no_free_slot:
            return "none of max_replication_slots is free any more";
        case giving_way::lost:
            return "PostgreSQL has removed its WAL" +
                   (of.lost_for.empty() ? "" : " (" + of.lost_for + ")");
        case giving_way::unwanted:
            return "replay.keep is not set any more";
    }
    return "";
}

std::string_view fix_of(giving_way why) {
    switch (why) {
        case giving_way::max_wal:
            return "; fix: raise replay.max_wal if the disk has room, or keep less";
        case giving_way::slot_in_danger:
            return "; fix: raise max_slot_wal_keep_size, and see why the relay's slot is behind: "
                   "walrelay status";
        case giving_way::no_free_slot:
            return "; fix: raise max_replication_slots and restart PostgreSQL";
        case giving_way::lost:
            return "; fix: raise max_slot_wal_keep_size, or lower replay.keep";
        default:
            return "";
    }
}

std::string name_of(const kept_position& one) {
    return one.kind == kept_kind::trail ? "the trail" : "bookmark " + one.name;
}

}  // namespace

bool keep_round::is_news(const std::string& about, const std::string& text) {
    return std::exchange(told_[about], text) != text;
}

std::optional<failed_look> say_of_failed_look(kept_sight sight, bool is_wanted, int failures,
                                              const error& why) {
    if (is_wanted || sight == kept_sight::some) {
        // A connection that ends, and the relay before that lets go of its lock, are usual and
        // pass.
        return failed_look{"positions for a replay are not looked after: " + to_string(why),
                           failures > 1};
    }
    if (sight == kept_sight::none) {
        return std::nullopt;
    }
    return failed_look{"whether positions are kept for a replay is not known: " + to_string(why)};
}

void keep_round::tell(const error& why) {
    ++failures_;
    const auto said = say_of_failed_look(sight_, rules_.keep.has_value(), failures_, why);
    if (!said) {
        return;
    }
    if (!said->is_warning) {
        log<"kept_positions_retried">(said->text, with<"error">(why.code));
    } else if (is_news("look", said->text)) {
        log<"kept_positions_failed">(said->text, with<"error">(why.code));
    }
}

void keep_round::tell(const relay::kept_drop& one) const {
    auto text = fmt::format("dropped {} (slot {}): {}{}", name_of(one.what), one.what.slot,
                            cause_of(one.why, one.what, rules_.max_wal), fix_of(one.why));
    const bool is_loss = one.why != giving_way::expired && one.why != giving_way::unwanted;
    const auto slot = with<"slot">(one.what.slot);
    const auto held = with<"held_bytes">(one.what.held_bytes);
    if (is_loss) {
        log<"position_lost">(std::move(text), slot, held);
    } else {
        log<"position_dropped">(std::move(text), slot, held);
    }
}

/// Where the room is too small for good, the trail moves on again and again.
void keep_round::tell(const relay::trail_move& move, const kept_position& trail) {
    constexpr auto between_warnings = 10min;
    ++early_moves_;
    auto text =
        fmt::format("moved the trail on to LSN {} before its time{}: {}{}", to_string(move.to),
                    early_moves_ > 1 ? fmt::format(" ({} times)", early_moves_) : "",
                    cause_of(*move.early, trail, rules_.max_wal), fix_of(*move.early));
    if (move.cuts_replay) {
        text += "; a replay that is not finished loses the rows before that";
    }
    const auto now = steady::now();
    if (!early_told_at_ || now - *early_told_at_ > between_warnings || move.cuts_replay) {
        log<"trail_cut">(std::move(text), with<"slot">(trail.slot), with<"lsn">(move.to));
        early_told_at_ = now;
        early_moves_ = 0;
    } else {
        log<"trail_cut_again">(std::move(text), with<"slot">(trail.slot), with<"lsn">(move.to));
    }
}

void keep_round::warn_of_trail(const std::string& why) {
    const auto text = "no trail is kept: " + why;
    if (is_news("trail", text)) {
        log<"trail_not_kept">(text, with<"slot">(trail_slot()));
    }
}

void keep_round::tell(relay::trail_trouble trouble) {
    switch (trouble) {
        case relay::trail_trouble::none:
            is_well("trail");
            break;
        case relay::trail_trouble::foreign_slot:
            warn_of_trail("slot " + trail_slot() +
                          " is there, and walrelay did not make it; fix: remove "
                          "replay.keep, or use another name for postgres.slot");
            break;
        case relay::trail_trouble::no_free_slot:
            warn_of_trail(
                "it would take the last free replication slot, or there is "
                "none; fix: raise max_replication_slots and restart PostgreSQL");
            break;
    }
}

}  // namespace walrelay::tasks
