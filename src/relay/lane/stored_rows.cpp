#include "relay/lane/stored_rows.hpp"

#include <algorithm>
#include <functional>

namespace walrelay::relay {
namespace {

std::uint64_t hash_of(std::string_view id) {
    return std::hash<std::string_view>{}(id);
}

/// The first version named a row that is published again by its ordinal, which is not known here.
std::string_view without_place(std::string_view id) {
    constexpr std::string_view again = ";republish-";
    const auto found = id.rfind(again);
    return found == std::string_view::npos ? id : id.substr(0, found + again.size());
}

}  // namespace

void stored_rows::add(std::uint64_t sequence, const std::optional<position>& where,
                      std::string_view id) {
    last_sequence_ = sequence;
    if (!where || where->origin.system_identifier != wanted_.line.origin.system_identifier) {
        return;
    }
    if (!wanted_.line.shares(*where)) {
        orphans_.first_sequence = orphans_.count == 0 ? sequence : orphans_.first_sequence;
        orphans_.last_sequence = sequence;
        ++orphans_.count;
        // A timeline of which nobody knows where it began can have named it, of a row from before
        // that. What an ancestor wrote after its end is of nobody here, whatever its place and id.
        if (wanted_.compares_ids && !wanted_.line.includes(where->origin.timeline) &&
            where->at.commit >= wanted_.since && where->at.commit < wanted_.wal_end) {
            add_row(where->at, id);
        }
        return;
    }
    if (!first_) {
        first_ = where->at;
        first_sequence_ = sequence;
    }
    least_ = std::min(least_.value_or(where->at), where->at);
    last_ = where->at;
    if (where->at.commit < wanted_.since) {
        leading_ += newest_ ? 0U : 1U;
        return;
    }
    add_row(where->at, id);
    if (is_of_a_snapshot(where->at) && wanted_.rows_of_tables && !id.empty()) {
        of_tables_.push_back({hash_of(id), where->at.commit});
    }
}

void stored_rows::add_row(const commit_position& at, std::string_view id) {
    newest_ = newest_ ? std::max(*newest_, at) : at;
    if (counts_events(at)) {
        counted_.emplace(at.commit, without_place(id));
    } else {
        rows_.push_back({at.row, at.index, wanted_.compares_ids ? hash_of(id) : 0});
    }
}

bool stored_rows::reaches_back() const {
    if (leading_ < wanted_.margin) {
        return false;
    }
    const bool after = first_sequence_ > wanted_.disordered_after;
    const bool before = !wanted_.disordered_until || first_sequence_ <= *wanted_.disordered_until;
    return !(after && before);
}

void stored_rows::end(bool from_the_beginning, removed_messages removed) {
    std::sort(rows_.begin(), rows_.end());
    std::sort(of_tables_.begin(), of_tables_.end());
    if (wanted_.has_holes) {
        return;
    }
    // Published once more, an event would come after newer ones of its subject, and replace them.
    if (removed == removed_messages::replaced && last_ && last_->commit >= wanted_.since) {
        floor_ = last_;
    } else if (removed == removed_messages::oldest && from_the_beginning && least_ &&
               least_->commit >= wanted_.since) {
        floor_ = least_;
    }
}

bool stored_rows::has(const commit_position& where, std::string_view id) const {
    if (floor_ && where <= *floor_) {
        return true;
    }
    const row looked_for{where.row, where.index, wanted_.compares_ids ? hash_of(id) : 0};
    return std::binary_search(rows_.begin(), rows_.end(), looked_for) ||
           (!counted_.empty() &&
            counted_.contains({where.commit, std::string(without_place(id))})) ||
           has_of_table(where, id);
}

bool stored_rows::may_have(const commit_position& where) const {
    const auto at_place = std::ranges::lower_bound(rows_, row{where.row, where.index, 0});
    if (at_place != rows_.end() && at_place->at == where.row && at_place->index == where.index) {
        return true;
    }
    const auto counted = counted_.lower_bound({where.commit, std::string()});
    if (counted != counted_.end() && counted->first == where.commit) {
        return true;
    }
    return !is_of_a_snapshot(where) && std::ranges::any_of(of_tables_, [&](const table_row& each) {
        return each.before > where.commit;
    });
}

bool stored_rows::has_of_table(const commit_position& where, std::string_view id) const {
    if (of_tables_.empty() || is_of_a_snapshot(where)) {
        return false;
    }
    const auto hash = hash_of(id);
    const auto found = std::ranges::upper_bound(of_tables_, table_row{hash, where.commit});
    return found != of_tables_.end() && found->id_hash == hash;
}

}  // namespace walrelay::relay
