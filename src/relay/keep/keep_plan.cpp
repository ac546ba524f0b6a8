#include "relay/keep/keep_plan.hpp"

#include <algorithm>

namespace walrelay::relay {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds looks_at_most_every{5000};
constexpr milliseconds looks_at_least_every{250};
constexpr int looks_in_keep = 20;
constexpr int marks_in_keep = 1440;
/// A slot keeps WAL from somewhat before its position.
constexpr std::uint64_t room_divisor = 10;

class planner {
public:
    planner(const keep_rules& rules, const kept_positions& found,
            const std::vector<trail_mark>& marks)
        : rules_(rules), found_(found), marks_(marks), trail_(find_trail(found)) {}

    keep_plan run();

private:
    [[nodiscard]] bool is_trail_usable() const {
        return trail_ != nullptr && trail_->is_ours && trail_->state == kept_state::kept &&
               trail_->confirmed.has_value();
    }
    [[nodiscard]] bool is_slot_in_danger() const {
        return found_.source->wal_status == "unreserved" || found_.source->wal_status == "lost";
    }
    /// Whether the server could remove WAL if it were not for this one.
    [[nodiscard]] bool holds_more_than_slot(const kept_position& one) const {
        return one.restart && (!found_.source->restart || *one.restart < *found_.source->restart);
    }
    [[nodiscard]] bool is_over_limit(const kept_position& one) const {
        return one.held_bytes > rules_.max_wal.bytes && holds_more_than_slot(one);
    }
    /// Not where its place is gone: what was made since under that name has nothing for it.
    [[nodiscard]] static bool reads_from(const unfinished_replay& each, const kept_position& one) {
        return each.kept_slot == one.slot &&
               (!each.at || !one.confirmed || *each.at >= *one.confirmed);
    }
    [[nodiscard]] bool is_replayed(const kept_position& one) const {
        return std::ranges::any_of(
            found_.replays, [&](const unfinished_replay& each) { return reads_from(each, one); });
    }
    [[nodiscard]] bool is_dropped(const kept_position& one) const {
        return std::ranges::any_of(
            plan_.drops, [&](const kept_drop& each) { return each.what.slot == one.slot; });
    }
    void drop(const kept_position& one, giving_way why) { plan_.drops.push_back({one, why}); }

    void drop_bookmarks();
    void drop_for_a_free_slot();
    void drop_for_the_slot();
    void look_after_trail();
    void make_mark();
    void make_trail();
    [[nodiscard]] lsn last_place_for_trail() const;
    [[nodiscard]] std::optional<lsn> place_in_time() const;
    [[nodiscard]] lsn place_with_room() const;
    void move_trail();
    void keep_trail_from_idling();
    void follow_failover();

    const keep_rules& rules_;
    const kept_positions& found_;
    const std::vector<trail_mark>& marks_;
    const kept_position* trail_;
    keep_plan plan_;
};

/// The oldest first, since that is how they are found.
void planner::drop_bookmarks() {
    for (const auto& each : found_.all) {
        if (each.kind != kept_kind::bookmark || !each.is_ours || is_replayed(each)) {
            continue;
        }
        if (each.expires_at && *each.expires_at <= found_.read_at) {
            drop(each, giving_way::expired);
        } else if (each.state == kept_state::kept && is_over_limit(each)) {
            drop(each, giving_way::max_wal);
        }
    }
}

/// One at a time: the next look tells whether that was enough.
void planner::drop_for_the_slot() {
    if (!is_slot_in_danger() || !plan_.drops.empty()) {
        return;
    }
    const auto oldest = std::ranges::find_if(found_.all, [&](const kept_position& each) {
        return each.kind == kept_kind::bookmark && each.is_ours && holds_more_than_slot(each);
    });
    // The trail is moved on before a bookmark goes.
    const bool is_trail_first = is_trail_usable() && holds_more_than_slot(*trail_) &&
                                *trail_->confirmed < found_.source->confirmed;
    if (oldest != found_.all.end() && !is_trail_first) {
        drop(*oldest, giving_way::slot_in_danger);
    }
}

/// What keeps nothing any more goes first, then the trail, which is made again when there is room.
void planner::drop_for_a_free_slot() {
    if (found_.slots_free > 0 || !plan_.drops.empty()) {
        return;
    }
    const auto may_go = [&](const kept_position& each) {
        return each.is_ours && each.state != kept_state::gone && !is_replayed(each);
    };
    const auto rank = [](const kept_position& each) {
        return each.state == kept_state::lost ? 0 : each.kind == kept_kind::trail ? 1 : 2;
    };
    const kept_position* first = nullptr;
    for (const auto& each : found_.all) {
        if (may_go(each) && (first == nullptr || rank(each) < rank(*first))) {
            first = &each;
        }
    }
    if (first != nullptr) {
        drop(*first, giving_way::no_free_slot);
    }
}

void planner::make_mark() {
    const auto confirmed = found_.source->confirmed;
    const bool is_due = marks_.empty() || (confirmed > marks_.back().position &&
                                           found_.read_at - marks_.back().seen_at >=
                                               time_between_marks(*rules_.keep));
    if (is_due && found_.is_register_readable) {
        plan_.mark = confirmed;
    }
}

void planner::make_trail() {
    constexpr std::int64_t needed = 2;
    if (trail_ != nullptr && !trail_->is_ours) {
        plan_.trouble = trail_trouble::foreign_slot;
    } else if (found_.slots_free < needed) {
        plan_.trouble = trail_trouble::no_free_slot;
    } else if (found_.is_register_readable) {
        plan_.make_trail = true;
    }
}

/// After a crash of the server its slot can stand before where the trail was moved to.
lsn planner::last_place_for_trail() const {
    auto last = found_.source->confirmed;
    for (const auto& each : found_.replays) {
        if (reads_from(each, *trail_)) {
            last = std::min(last, each.at.value_or(*trail_->confirmed));
        }
    }
    return last;
}

std::optional<lsn> planner::place_in_time() const {
    const auto time = found_.read_at - *rules_.keep;
    const auto last = last_place_for_trail();
    std::optional<lsn> place;
    for (const auto& each : marks_) {
        if (each.position > last) {
            break;
        }
        if (each.seen_at <= time) {
            place = each.position;
        }
    }
    return place;
}

/// The earliest mark from which no more is kept than may be, also after the one that was tried
/// before; where there is none, the slot's own place.
lsn planner::place_with_room() const {
    const auto allowed = rules_.max_wal.bytes - rules_.max_wal.bytes / room_divisor;
    const auto from = found_.wal_end.value - std::min(allowed, found_.wal_end.value);
    const auto place = std::ranges::find_if(marks_, [&](const trail_mark& each) {
        return each.position.value >= from && each.position > *trail_->confirmed;
    });
    return place == marks_.end() ? found_.source->confirmed : place->position;
}

void planner::move_trail() {
    if (is_slot_in_danger() && holds_more_than_slot(*trail_)) {
        plan_.move = {found_.source->confirmed, giving_way::slot_in_danger, is_replayed(*trail_)};
    } else if (is_over_limit(*trail_)) {
        plan_.move = {std::min(place_with_room(), last_place_for_trail()), giving_way::max_wal};
    } else if (const auto place = place_in_time()) {
        plan_.move = {*place};
    }
    if (plan_.move && plan_.move->to <= *trail_->confirmed) {
        // It stands where it may stand, and PostgreSQL has not found yet what it need not keep.
        const bool is_behind = plan_.move->early.has_value();
        plan_.move.reset();
        plan_.touch_trail = is_behind;
    }
}

void planner::keep_trail_from_idling() {
    constexpr int uses_in_timeout = 3;
    const auto timeout = found_.idle_timeout;
    const bool is_idle =
        trail_->idle_since && found_.read_at - *trail_->idle_since >= timeout / uses_in_timeout;
    if (timeout.count() > 0 && is_idle && !plan_.move) {
        plan_.touch_trail = true;
    }
}

void planner::look_after_trail() {
    const bool is_ours = trail_ != nullptr && trail_->is_ours;
    if (!rules_.keep) {
        if (is_ours && !is_replayed(*trail_) && !is_dropped(*trail_)) {
            drop(*trail_, giving_way::unwanted);
        }
        return;
    }
    make_mark();
    if (is_ours && trail_->state == kept_state::lost && !is_dropped(*trail_)) {
        drop(*trail_, giving_way::lost);
    } else if (is_trail_usable() && !is_dropped(*trail_)) {
        move_trail();
        keep_trail_from_idling();
    } else if (trail_ == nullptr || !is_ours || trail_->state == kept_state::gone) {
        make_trail();
    }
}

void planner::follow_failover() {
    if (!found_.source->failover) {
        return;
    }
    for (const auto& each : found_.all) {
        if (each.is_ours && each.state == kept_state::kept && !each.failover && !each.active &&
            !is_dropped(each)) {
            plan_.to_fail_over.push_back(each.slot);
        }
    }
}

keep_plan planner::run() {
    if (!found_.source || found_.in_recovery) {
        return {};
    }
    drop_bookmarks();
    drop_for_the_slot();
    drop_for_a_free_slot();
    look_after_trail();
    follow_failover();
    return std::move(plan_);
}

}  // namespace

milliseconds time_between_marks(milliseconds keep) {
    return keep / marks_in_keep;
}

milliseconds time_between_looks(const keep_rules& rules) {
    return rules.keep
               ? std::clamp(*rules.keep / looks_in_keep, looks_at_least_every, looks_at_most_every)
               : looks_at_most_every;
}

keep_plan plan_keeping(const keep_rules& rules, const kept_positions& found,
                       const std::vector<trail_mark>& marks) {
    return planner(rules, found, marks).run();
}

}  // namespace walrelay::relay
