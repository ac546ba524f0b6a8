// See judge.hpp.
#include "soak/judge.hpp"

#include "soak/disturbances.hpp"

#include <algorithm>

namespace walrelay::soak {
namespace {

using std::chrono::milliseconds;

/// `<id>;republish-<row LSN>-<index>` is what the witness calls `<id>;republish`.
std::string key_of(const std::string& message_id) {
    const auto again = message_id.find(published_again);
    return again == std::string::npos ? message_id : message_id.substr(0, again) + published_again;
}

std::vector<period> excuses(const evidence& all) {
    std::vector<period> result;
    for (const auto& fault : all.restarts) {
        result.push_back(excuse_of(fault, all.log));
    }
    return merged(std::move(result));
}

row_wait wait_of(const std::string& key, const committed_row& row, moment stored,
                 const std::vector<period>& excused) {
    const period when{row.when, std::max(row.when, stored)};
    return {.key = key, .table = row.table, .when = when, .unexcused = outside(when, excused)};
}

void read_stream(chaos::arena& where, const evidence& all, findings& found) {
    // Rows that became dead letters leave gaps in the ordinals of their transactions.
    test::running_comparison comparison(all.expected.keys, test::ordinals::rising);
    test::stream_reader reader(where.broker_url());
    auto left = all.rows;
    reader.for_each(chaos::stream_name, 0, [&](const test::stored_message& message) {
        auto event = seen(message);
        event.id = key_of(event.id);
        comparison.look_at(event);
        if (const auto row = left.extract(event.id)) {
            const auto stored = std::chrono::time_point_cast<clock::duration>(message.stored_at);
            found.waits.push_back(wait_of(row.key(), row.mapped(), stored, found.excused));
        }
    });
    for (const auto& [key, row] : left) {
        found.waits.push_back(wait_of(key, row, all.ended, found.excused));
    }
    found.compared = comparison.finish();
}

void find_stands(const evidence& all, findings& found, milliseconds limit) {
    auto excused = found.excused;
    for (const auto& entry : all.diary) {
        if (holds_write_backs(entry.kind)) {
            excused.push_back({entry.when.begin, entry.when.end + catch_up_limit});
        }
    }
    excused = merged(std::move(excused));
    for (const auto& stand : all.stands) {
        const auto left = outside(stand, excused);
        found.longest_stand = std::max(found.longest_stand, left);
        if (left > limit) {
            found.standing.push_back(stand);
        }
    }
}

}  // namespace

std::vector<late_rows> find_late(std::vector<row_wait> waits, milliseconds limit) {
    std::erase_if(waits, [&](const row_wait& row) { return row.unexcused <= limit; });
    std::sort(waits.begin(), waits.end(), [](const row_wait& one, const row_wait& other) {
        return one.when.begin < other.when.begin;
    });
    std::vector<late_rows> result;
    for (const auto& row : waits) {
        if (result.empty() || !overlap(result.back().when, row.when)) {
            result.push_back({.when = row.when, .rows = 0, .worst = row});
        }
        auto& last = result.back();
        last.when.end = std::max(last.when.end, row.when.end);
        ++last.rows;
        if (row.unexcused > last.worst.unexcused) {
            last.worst = row;
        }
    }
    return result;
}

findings judge(chaos::arena& where, const evidence& all, const limits& bounds) {
    findings found;
    found.excused = excuses(all);
    read_stream(where, all, found);
    found.late = find_late(found.waits, bounds.wait);
    find_stands(all, found, bounds.stand);
    return found;
}

}  // namespace walrelay::soak
