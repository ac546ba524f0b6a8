#include "sim/database.hpp"

#include "sim/checker.hpp"

#include <algorithm>
#include <utility>

namespace walrelay::sim {

table_name name_of(table which) {
    switch (which) {
        case table::outbox:
            return {"public", "outbox"};
        case table::users:
            return {"public", "users"};
        case table::new_partition:
            return {"public", "outbox_2"};
        case table::new_other:
            return {"public", "audit"};
    }
    return {};
}

database::database(world& where, const profile& how)
    : world_(where), profile_(how), writers_(how.writers) {
    new_partition_at_ = world_.random().between(sim_time(0), 2 * profile_.faulty_time);
    new_other_at_ = world_.random().between(sim_time(0), 2 * profile_.faulty_time);
}

const outbox_table& database::outbox() {
    static const outbox_table only{
        .table = name_of(table::outbox), .subject = "events.{kind}", .body = body_format::payload};
    return only;
}

postgres_facts database::facts() const {
    postgres_facts known;
    known.origin = line_.origin;
    known.tables.resize(1);
    known.tables[0].table = name_of(table::outbox);
    known.other_tables = {name_of(table::users)};
    if (world_.now() >= new_partition_at_) {
        known.tables[0].leaves.push_back(name_of(table::new_partition));
    }
    // A table that was dropped again is in the WAL but in no catalog.
    if (world_.now() >= new_other_at_ && new_other_at_.count() % 2 == 0) {
        known.other_tables.push_back(name_of(table::new_other));
    }
    return known;
}

void database::start(std::function<void()> on_wal) {
    on_wal_ = std::move(on_wal);
    writing_ = true;
    for (std::size_t which = 0; which < writers_.size(); ++which) {
        world_.after(sim_time(which), [this, which] { write(which); });
    }
}

lsn database::append(std::uint64_t size_max) {
    constexpr std::uint64_t alignment = 8;
    const auto begin = wal_end_;
    wal_end_.value += alignment * world_.random().between(4, size_max / alignment);
    records_.push_back(wal_end_);
    return begin;
}

void database::write(std::size_t which) {
    constexpr std::uint64_t insert_share = 60;
    constexpr std::uint64_t commit_share = 85;
    constexpr std::uint64_t rollback_share = 90;
    if (!writing_) {
        return;
    }
    if (up_) {
        auto& by = writers_[which];
        const auto choice = world_.random().below(100);
        if (choice < insert_share && by.rows.size() < profile_.rows_max) {
            insert(by);
        } else if (choice < commit_share) {
            commit(by);
        } else if (choice < rollback_share) {
            append(64);
            by.rows.clear();
        } else {
            append(4096);  // another database, a vacuum
        }
        on_wal_();
    }
    writing_ = writing_ && committed_.size() < profile_.transactions;
    world_.after(world_.random().between(sim_time(1), profile_.writer_pause),
                 [this, which] { write(which); });
}

table database::choose_table() {
    constexpr std::uint64_t users_share = 10;
    constexpr std::uint64_t partition_share = 20;
    constexpr std::uint64_t other_share = 23;
    const auto choice = world_.random().below(100);
    if (choice < users_share) {
        return table::users;
    }
    if (choice < partition_share && world_.now() >= new_partition_at_) {
        return table::new_partition;
    }
    if (choice >= partition_share && choice < other_share && world_.now() >= new_other_at_) {
        return table::new_other;
    }
    return table::outbox;
}

void database::insert(writer& into) {
    inserted_row row;
    row.into = choose_table();
    row.at = append(400);
    row.id = "row-" + std::to_string(++last_id_);
    row.kind = "kind" + std::to_string(world_.random().below(3));
    const auto filler = world_.random().skewed(world_.random().chance(50) ? 2000 : 40);
    if (is_outbox(row.into) && world_.random().chance(profile_.poison)) {
        row.defect = world_.random().chance(500) ? poison::too_large : poison::refused;
    }
    row.payload = "{\"of\": \"" + row.id + "\", \"filler\": \"" + std::string(filler, 'x') + "\"}";
    if (row.defect == poison::too_large) {
        row.payload.append(max_payload_bytes, ' ');
    } else if (row.defect == poison::refused) {
        row.payload += refused_mark;
    }
    into.rows.push_back(std::move(row));
}

void database::commit(writer& finished) {
    transaction done;
    done.xid = ++last_xid_;
    done.commit = append(200);
    done.end = wal_end_;
    done.committed_at = world_.now_for_the_relay().wall;
    done.rows = std::exchange(finished.rows, {});
    std::uint64_t count = 0;
    for (const auto& row : done.rows) {
        if (is_outbox(row.into)) {
            ++count;
            events_.push_back(
                {{done.commit, row.at, 0}, row.id, "events." + row.kind, row.payload, row.defect});
        }
    }
    world_.say("database: commit ", to_string(done.commit), " end ", to_string(done.end), " with ",
               count, " outbox rows of ", done.rows.size());
    committed_.push_back(std::move(done));
}

bool database::store_dead_letter(const dead_letter& letter, checker& watch) {
    if (up_) {
        watch.on_set_aside(letter.where, letter.message_id);
        dead_letters_.insert(letter.message_id);
    }
    return up_;
}

void database::keep_halt(const std::string& reason) {
    if (up_) {
        world_.say("database: halted: ", reason);
        halt_ = reason;
    }
}

bool database::write_back(const relay::write_back_batch& batch, checker& watch) const {
    if (up_) {
        for (const auto& row : batch.rows) {
            watch.on_written_back(row.where, row.key);
        }
    }
    return up_;
}

void database::crash() {
    up_ = false;
    for (auto& each : writers_) {
        each.rows.clear();
    }
}

lsn database::promote(lsn at_least, checker& watch) {
    constexpr std::uint64_t most_records = 60;
    crash();
    std::erase_if(records_, [&](lsn end) { return end < at_least; });
    auto lost = world_.random().chance(300) ? 0 : world_.random().skewed(most_records);
    lost = std::min<std::uint64_t>(lost, records_.size());
    const auto at = lost == 0                ? wal_end_
                    : lost < records_.size() ? records_[records_.size() - 1 - lost]
                                             : std::max(at_least, line_began_);
    leave_branch(at, watch);
    line_.ancestors.push_back({line_.origin.timeline, at});
    ++line_.origin.timeline;
    world_.say("database: timeline ", line_.origin.timeline, " begins at ", to_string(at));
    append(200);  // the record of the end of recovery
    records_.clear();
    line_began_ = wal_end_;
    return at;
}

void database::restore(const lineage& line, lsn at, checker& watch) {
    crash();
    leave_branch(at, watch);
    restored_over_.push_back(line_);
    line_ = line;
    world_.say("database: is restored from a copy, on timeline ", line_.origin.timeline);
    std::erase_if(records_, [&](lsn end) { return end > at; });
    append(200);  // the checkpoint at the end of recovery
    line_began_ = std::min(line_began_, at);
}

/// What was committed from `at` on was never there.
void database::leave_branch(lsn at, checker& watch) {
    ++incarnation_;
    watch.on_branch_left(at);
    for (const auto& each : events_) {
        if (each.where.commit >= at) {
            orphans_.emplace(each.id, orphan{each, line_});
        }
    }
    std::erase_if(events_, [&](const outbox_event& each) { return each.where.commit >= at; });
    std::erase_if(committed_, [&](const transaction& each) { return each.commit >= at; });
    world_.say("database: goes back from ", to_string(wal_end_), " to ", to_string(at));
    wal_end_ = at;
}

bool database::has_known(const position& where) const {
    return line_.shares(where) ||
           std::any_of(restored_over_.begin(), restored_over_.end(),
                       [&](const lineage& each) { return each.shares(where); });
}

const orphan* database::orphan_of(const std::string& id) const {
    const auto found = orphans_.find(id);
    return found == orphans_.end() ? nullptr : &found->second;
}

}  // namespace walrelay::sim
