#include "sim/checker.hpp"

#include "core/position.hpp"
#include "sim/violation.hpp"

#include <algorithm>

namespace walrelay::sim {
namespace {

std::string name(const stored_message& taken) {
    return "sequence " + std::to_string(taken.sequence) + ", id " + taken.id + ", position " +
           taken.position;
}

std::string name(const outbox_event& event) {
    return event.id + " at " + to_string(event.where.commit) + "." +
           std::to_string(event.where.index);
}

}  // namespace

std::size_t checker::index_of_row(const std::string& id) {
    const auto& all = source_.events();
    for (auto next = index_.size(); next < all.size(); ++next) {
        index_.emplace(all[next].id, next);
    }
    const auto row = index_.find(id);
    return row == index_.end() ? all.size() : row->second;
}

std::size_t checker::index_of(const std::string& position, const std::string& id) {
    const auto where = parse_position(position);
    if (!where || where->origin.system_identifier != database::first_history.system_identifier ||
        !source_.has_known(*where)) {
        throw violation("no phantom", "no position of this database: " + position);
    }
    const auto& all = source_.events();
    if (is_of_a_snapshot(where->at)) {
        const auto row = index_of_row(id);
        if (row == all.size() || all[row].where.commit > where->at.commit) {
            throw violation("no phantom", "no snapshot had " + id + " at " + position);
        }
        return row;
    }
    const auto found = std::lower_bound(
        all.begin(), all.end(), where->at,
        [](const outbox_event& event, const commit_position& at) { return event.where < at; });
    if (found == all.end() || found->where != where->at) {
        throw violation("no phantom", "nothing was ever committed at " + position);
    }
    return static_cast<std::size_t>(found - all.begin());
}

bool checker::is_excused(std::size_t index) const {
    const auto& event = source_.events()[index];
    return event.excused || (event.from == table::letters && index < letters_left_out_);
}

checker::fate& checker::fate_of(std::size_t index) {
    for (auto next = fates_.size(); next < source_.events().size(); ++next) {
        fates_.push_back(is_excused(next) ? fate::excused : fate::missing);
    }
    return fates_[index];
}

std::size_t checker::first_missing() {
    while (settled_ < source_.events().size() && fate_of(settled_) != fate::missing) {
        ++settled_;
    }
    return settled_;
}

std::size_t checker::first_not_written() {
    if (!profile_.write_backs) {
        return source_.events().size();
    }
    written_.resize(source_.events().size(), false);
    while (written_before_ < written_.size() &&
           (written_[written_before_] || source_.events()[written_before_].replayed ||
            fate_of(written_before_) == fate::set_aside ||
            fate_of(written_before_) == fate::excused || fate_of(written_before_) == fate::lost)) {
        ++written_before_;
    }
    return written_before_;
}

void checker::on_written_back(const commit_position& where, const std::string& id) {
    const auto index = index_of(to_string(position{source_.line().origin, where}), id);
    if (fate_of(index) == fate::set_aside) {
        return;
    }
    was_stored_.resize(source_.events().size(), false);
    // What was passed over, and said to be, comes again where a crash sets the slot back.
    if (!was_stored_[index] && fate_of(index) != fate::lost) {
        throw violation("write back after the ack",
                        name(source_.events()[index]) + " was never in the stream");
    }
    written_.resize(source_.events().size(), false);
    written_[index] = true;
}

bool checker::is_orphan(const stored_message& taken) {
    const auto all = source_.orphans_of(taken.id);
    if (all.empty()) {
        return false;
    }
    const auto where = parse_position(taken.position);
    const bool fits = std::any_of(all.begin(), all.end(), [&](const orphan* dead) {
        const auto& row = dead->row;
        return where && (dead->line.shares(*where) || source_.has_known(*where)) &&
               where->at == row.where && taken.subject == row.subject && taken.body == row.body;
    });
    // On a branch that uses LSNs again a row can be published again at the same place.
    const auto& now = source_.events();
    if (!fits && std::any_of(now.begin(), now.end(),
                             [&](const auto& each) { return each.id == taken.id; })) {
        return false;
    }
    if (!fits) {
        throw violation("content", "a message differs from its row: " + name(taken));
    }
    if (!orphaned_.insert({taken.id, where->at}).second) {
        throw violation("no duplicate", name(taken) + " is in the stream already");
    }
    return true;
}

void checker::on_published(const std::string& position, const lineage& joined) {
    const auto where = parse_position(position);
    if (!where || !joined.shares(*where)) {
        throw violation("no row of a dead branch",
                        position + " is published by a relay that is connected to timeline " +
                            std::to_string(joined.origin.timeline));
    }
}

void checker::on_letters_left_out() {
    static_cast<void>(first_missing());  // has a fate for every row
    written_.resize(fates_.size(), false);
    letters_left_out_ = fates_.size();
    for (std::size_t index = 0; index < fates_.size(); ++index) {
        if (source_.events()[index].from == table::letters) {
            fates_[index] = fates_[index] == fate::missing ? fate::excused : fates_[index];
            written_[index] = true;
        }
    }
}

void checker::on_branch_left(lsn at) {
    const auto& all = source_.events();
    const auto first = std::find_if(
        all.begin(), all.end(), [&](const outbox_event& each) { return each.where.commit >= at; });
    const auto kept = static_cast<std::size_t>(first - all.begin());
    for (auto index = kept; index < fates_.size(); ++index) {
        if (fates_[index] == fate::stored) {
            orphaned_.insert({all[index].id, all[index].where});
        }
    }
    fates_.resize(std::min(fates_.size(), kept));
    was_stored_.resize(std::min(was_stored_.size(), kept));
    was_lost_.resize(std::min(was_lost_.size(), kept));
    written_.resize(std::min(written_.size(), kept));
    settled_ = std::min(settled_, kept);
    letters_lost_.erase(letters_lost_.lower_bound(kept), letters_lost_.end());
    came_late_.erase(came_late_.lower_bound(kept), came_late_.end());
    written_before_ = std::min(written_before_, kept);
    std::erase_if(index_, [&](const auto& each) { return each.second >= kept; });
    for (auto& each : next_) {
        each.second = std::min(each.second, kept);
    }
    letters_left_out_ = std::min(letters_left_out_, kept);
    confirmed_ = std::min(confirmed_, at);
}

void checker::on_orphans_named(std::uint64_t last_sequence) {
    named_up_to_ = std::max(named_up_to_, last_sequence);
}

void checker::check_orphans(const std::vector<stored_message>& all) const {
    // What a restored database has lost on its own timeline, nothing in it tells.
    if (!profile_.orders_all() || profile_.has_strangers() || profile_.has(mishap::restore)) {
        return;
    }
    std::uint32_t goes_on = 0;
    for (auto each = all.rbegin(); each != all.rend(); ++each) {
        if (!each->is_ours()) {
            continue;
        }
        const auto where = *parse_position(each->position);
        const auto timeline = where.origin.timeline;
        if (each->sequence > named_up_to_ && timeline < goes_on &&
            orphaned_.contains({each->id, where.at})) {
            throw violation("orphans are named", name(*each) + " was not");
        }
        goes_on = std::max(goes_on, timeline);
    }
}

void checker::on_stored(const stored_message& taken) {
    if (has_untold_loss()) {
        throw violation("a loss is told", name(taken) + " is published, and nobody has told that " +
                                              name(source_.events()[*lost_untold_.begin()]) +
                                              " is gone");
    }
    if (is_orphan(taken)) {
        return;
    }
    const auto index = index_of(taken.position, taken.id);
    const auto& event = source_.events()[index];
    if (taken.id != event.id || taken.subject != event.subject || taken.body != event.body) {
        throw violation("content", "a message differs from its row: " + name(taken));
    }
    auto& now = fate_of(index);
    if (now == fate::stored) {
        throw violation("no duplicate", name(taken) + " is in the stream already");
    }
    if (now == fate::set_aside) {
        throw violation("no duplicate", name(taken) + " is in the dead letters already");
    }
    // What the broker has forgotten may be found missing much later: where the slot goes back, or
    // where rows are compared one by one.
    // What was left out while its table was not configured comes behind what was not.
    const bool was_lost = index < was_lost_.size() && was_lost_[index];
    const bool had_a_letter = letters_lost_.contains(index);
    const bool may_be_late = now == fate::lost || now == fate::excused || was_lost || had_a_letter;
    const bool is_late = index < next_[order_of(index)];
    if (may_be_late && is_late) {
        came_late_.insert(index);
    }
    // What came late comes late again, once it was lost.
    if (!may_be_late && !(is_late && came_late_.contains(index))) {
        check_order(index, name(taken));
    }
    now = fate::stored;
    note_stored(index);
    unseen_.insert_or_assign(index, taken.sequence);
}

void checker::on_stream_seen(std::uint64_t last_sequence) {
    std::erase_if(unseen_, [&](const auto& each) { return each.second <= last_sequence; });
}

void checker::note_stored(std::size_t index) {
    was_stored_.resize(source_.events().size(), false);
    was_stored_[index] = true;
    if (is_excused(index)) {
        // The relay that published it may be the last one that knows its table.
        written_.resize(source_.events().size(), false);
        written_[index] = true;
    }
}

std::string checker::order_of(std::size_t index) const {
    return profile_.orders_all() ? "" : source_.events()[index].subject;
}

void checker::check_order(std::size_t index, const std::string& name_of_it) {
    if (profile_.has_strangers() && (profile_.sole_writer || profile_.sole_writer_changes)) {
        return;  // a stranger lets later messages pass earlier ones, see docs/guarantees.md
    }
    auto& next = next_[order_of(index)];
    if (index < next) {
        throw violation("order",
                        name_of_it + " is stored behind " + name(source_.events()[next - 1]));
    }
    if (profile_.orders_all() && !is_next(index)) {
        throw violation("order", name_of_it + " overtakes " + missing_text());
    }
    next = index + 1;
}

bool checker::is_next(std::size_t index) {
    for (auto each = first_missing(); each < index; ++each) {
        if (fate_of(each) == fate::missing && !letters_lost_.contains(each)) {
            return false;
        }
    }
    return true;
}

void checker::on_set_aside(const position& where, const std::string& id) {
    const auto index = index_of(to_string(where), id);
    const auto& event = source_.events()[index];
    auto& now = fate_of(index);
    // Too large by now, and sent by another relay, or known to another server that led the stream,
    // or on its way when the stream was looked at, or recognised by its id alone, which takes a
    // publish: before it stand somebody else's messages.
    const bool seems_unsent = event.defect == poison::sometimes_too_large &&
                              (profile_.rate(hazard::tail_stale) > 0 || profile_.relays > 1 ||
                               profile_.harm_interval > sim_time(0) || unseen_.contains(index));
    if (seems_unsent && now == fate::stored) {
        written_.resize(source_.events().size(), false);
        written_[index] = true;
        return;
    }
    // Its id is that of a row which was lost, and the broker may remember that.
    const bool has_a_namesake = !source_.orphans_of(event.id).empty();
    if ((event.defect == poison::none && !has_a_namesake) || now == fate::stored) {
        throw violation("dead letters", "a good row is set aside: " + name(event));
    }
    now = fate::set_aside;
}

void checker::on_letter_lost(const std::string& id) {
    const auto index = index_of_row(id);
    if (index < fates_.size() && fates_[index] == fate::set_aside) {
        fates_[index] = fate::missing;
        letters_lost_.insert(index);
        settled_ = std::min(settled_, index);
    }
}

void checker::on_history_repeated() {
    for (const auto index : letters_lost_) {
        if (index < fates_.size() && fates_[index] == fate::missing) {
            fates_[index] = fate::lost;
        }
    }
}

std::vector<checker::fate> checker::look_again(const std::vector<stored_message>& left) {
    static_cast<void>(first_missing());  // has a fate for every row
    auto before = fates_;
    for (std::size_t index = 0; index < fates_.size(); ++index) {
        if (fates_[index] == fate::stored) {
            fates_[index] = is_excused(index) ? fate::excused : fate::missing;
        }
    }
    next_.clear();
    settled_ = 0;
    const auto orphans = orphaned_.size();
    orphaned_.clear();
    for (const auto& each : left) {
        if (each.is_ours() && !is_orphan(each)) {
            const auto index = index_of(each.position, each.id);
            fates_[index] = fate::stored;
            auto& next = next_[profile_.orders_all() ? "" : each.subject];
            next = std::max(next, index + 1);
        }
    }
    lost_count_ += orphans - orphaned_.size();
    static_cast<void>(first_missing());
    return before;
}

void checker::on_stream_harmed(const std::vector<stored_message>& left, lsn slot) {
    const auto before = look_again(left);
    was_lost_.resize(fates_.size(), false);
    for (std::size_t index = 0; index < fates_.size(); ++index) {
        if (fates_[index] == before[index]) {
            continue;
        }
        was_lost_[index] = true;
        const auto& row = source_.events()[index];
        if (row.where.commit < confirmed_ || given_up_.contains(index)) {
            fates_[index] = fate::lost;
            ++lost_count_;
        }
        // Else what was told may be on its way to the server, or lost.
        if (row.where.commit < slot && !given_up_.contains(index)) {
            lost_untold_.insert(index);
        }
    }
}

void checker::on_stream_lost(const std::vector<stored_message>& left, bool unseen) {
    const auto before = look_again(left);
    // Alone, the next question shows it; beside others, their messages hide it.
    const bool hidden = unseen && !profile_.orders_all();
    was_lost_.resize(fates_.size(), false);
    for (std::size_t index = 0; index < fates_.size(); ++index) {
        if (fates_[index] == before[index]) {
            continue;
        }
        if (fates_[index] == fate::excused) {
            ++lost_count_;
        } else if (hidden || profile_.confirm_delay == sim_time(0)) {
            // An ack may be on its way to the slot: the row comes again or not, both are allowed.
            fates_[index] = fate::lost;
            ++lost_count_;
            was_lost_[index] = true;
        } else if (source_.events()[index].where.commit < confirmed_) {
            throw violation("held back", name(source_.events()[index]) +
                                             " is forgotten, and the slot has moved past it");
        } else if (!profile_.orders_all()) {
            // A publish that was on its way comes to stand before what comes again.
            was_lost_[index] = true;
        }
    }
}

void checker::on_straggler(const std::string& id) {
    if (profile_.has(mishap::configuration)) {
        static_cast<void>(first_missing());  // has a fate for every row
        was_lost_.resize(fates_.size(), false);
        if (const auto index = index_of_row(id); index < was_lost_.size()) {
            was_lost_[index] = true;
        }
    }
}

void checker::on_loss_shown() {
    if (profile_.confirm_delay == sim_time(0)) {
        return;
    }
    static_cast<void>(first_missing());  // has a fate for every row
    was_lost_.resize(fates_.size(), false);
    for (std::size_t index = 0; index < fates_.size(); ++index) {
        const auto commits_at = source_.events()[index].where.commit;
        if (was_lost_[index] && fates_[index] == fate::lost && commits_at >= confirmed_) {
            if (is_excused(index)) {
                fates_[index] = fate::excused;
                continue;
            }
            fates_[index] = fate::missing;
            --lost_count_;
            settled_ = std::min(settled_, index);
        }
    }
}

void checker::on_confirmed(lsn flushed, const char* where) {
    // The server skips what commits before the position that it starts from.
    const auto missing = first_missing();
    if (missing < source_.events().size() && source_.events()[missing].where.commit < flushed) {
        throw violation("the slot keeps what the stream does not have",
                        to_string(flushed) + " is confirmed (" + where + ") while " +
                            missing_text() + " is not in the stream");
    }
    const auto unwritten = first_not_written();
    if (unwritten < source_.events().size() && source_.events()[unwritten].where.commit < flushed) {
        throw violation("the slot keeps what is not written back",
                        to_string(flushed) + " is confirmed (" + where + ") while " +
                            name(source_.events()[unwritten]) + " is not written back");
    }
    confirmed_ = std::max(confirmed_, flushed);
}

void checker::on_slot_streams(lsn from) {
    while (!lost_untold_.empty()) {
        const auto index = *lost_untold_.rbegin();
        if (source_.events()[index].where.commit < from) {
            return;
        }
        fates_[index] = fate::missing;
        --lost_count_;
        settled_ = std::min(settled_, index);
        lost_untold_.erase(index);
    }
}

void checker::on_slot_advanced(lsn to, bool under_a_relay) {
    static_cast<void>(first_missing());  // has a fate for every row
    written_.resize(fates_.size(), false);
    const auto& all = source_.events();
    for (std::size_t index = 0; index < fates_.size() && all[index].where.commit < to; ++index) {
        written_[index] = true;
        if (fates_[index] == fate::missing) {
            fates_[index] = fate::lost;
            ++lost_count_;
            skipped_.insert(index);
            if (under_a_relay) {
                to_be_named_.insert(index);
            }
        }
    }
    confirmed_ = std::max(confirmed_, to);
}

void checker::on_roll_called(const std::vector<std::string>& newest,
                             const std::vector<stored_message>& all, lsn since, bool is_exact) {
    to_be_named_.clear();
    if (skipped_.empty()) {
        return;
    }
    // A row is asked for if the last messages show one of its table that was stored before it.
    const auto count = std::min<std::uint64_t>(profile_.look_back, all.size());
    const auto recent = std::vector(all.end() - static_cast<std::ptrdiff_t>(count), all.end());
    for (const auto& id : newest) {
        const auto index = index_of_row(id);
        const auto& row = source_.events()[index];
        const bool is_later =
            is_exact || std::any_of(recent.begin(), recent.end(), [&](const auto& each) {
                return world::to_wall(each.stored_at) < row.created_at &&
                       parse_position(each.position)->at.commit >= since &&
                       source_.events()[index_of(each.position, each.id)].from == row.from &&
                       std::find(newest.begin(), newest.end(), each.id) != newest.end();
            });
        if (skipped_.contains(index) && fate_of(index) == fate::lost && is_later) {
            to_be_named_.insert(index);
        }
    }
}

void checker::on_left_out(const std::string& id) {
    const auto index = index_of_row(id);
    skipped_.erase(index);
    to_be_named_.erase(index);
}

std::optional<std::string> checker::to_be_named() {
    for (const auto index : to_be_named_) {
        if (fate_of(index) == fate::lost) {
            return name(source_.events()[index]);
        }
    }
    return std::nullopt;
}

void checker::on_reported(lsn before, lsn flushed) {
    if (flushed < before) {
        throw violation("confirmed never goes back",
                        to_string(flushed) + " is reported behind " + to_string(before));
    }
}

std::string checker::missing_text() {
    const auto missing = first_missing();
    if (missing < source_.events().size()) {
        return name(source_.events()[missing]);
    }
    const auto unwritten = first_not_written();
    return unwritten < source_.events().size()
               ? name(source_.events()[unwritten]) + " (not written back)"
               : "nothing";
}

}  // namespace walrelay::sim
