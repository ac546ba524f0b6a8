#include "relay/replay/replay_plan.hpp"

#include <algorithm>

namespace walrelay::relay {
namespace {

constexpr std::size_t named_max = 5;

void count(replay_count& into, std::uint64_t bytes) {
    ++into.rows;
    into.bytes += bytes;
}

}  // namespace

void replay_plan::add(const replayed_row& row) {
    if (row.row.too_large_bytes > 0) {
        ++too_large;
        return;
    }
    if (row.unmappable) {
        ++unmappable;
        if (unmappable_named.size() < named_max) {
            unmappable_named.push_back(to_string(row.where) + ": " + row.unmappable->what);
        }
    }
    const auto bytes = row.content->size_bytes();
    count(all, bytes);
    count(by_table[to_string(row.source)], bytes);
    const auto& subject = row.content->subject;
    if (by_subject.size() < subjects_max || by_subject.contains(subject)) {
        count(by_subject[subject], bytes);
    } else {
        count(more_subjects, bytes);
    }
    control_bytes += row.event.size();
    if (row.where.at.commit != counted_commit_) {
        counted_commit_ = row.where.at.commit;
        ++transactions;
    }
    first_commit = std::min(first_commit.value_or(row.committed_at), row.committed_at);
    last_commit = std::max(last_commit.value_or(row.committed_at), row.committed_at);
    first = first.value_or(row.where);
    last = row.where;
}

}  // namespace walrelay::relay
