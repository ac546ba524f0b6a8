#include "sim/database.hpp"

#include "relay/intake/republish.hpp"
#include "sim/checker.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace walrelay::sim {

table_name name_of(table which) {
    switch (which) {
        case table::outbox:
            return {"public", "outbox"};
        case table::letters:
            return {"public", "letters"};
        case table::users:
            return {"public", "users"};
        case table::new_partition:
            return {"public", "outbox_2"};
        case table::new_other:
            return {"public", "audit"};
        case table::control:
            return {"walrelay", "control"};
    }
    return {};
}

namespace {

outbox_event event_of(const inserted_row& row, const transaction& in, const lineage& line) {
    const commit_position where{in.commit, row.at, 0};
    const std::string from = row.into == table::letters ? "letters." : "events.";
    std::string occasion;
    if (row.replay) {
        occasion = ";replay-" + std::to_string(row.replay->number) + "-" + row.replay->position;
    } else if (row.again) {
        occasion = ";" + relay::republish_occasion(where, line);
    }
    return {.where = where,
            .id = row.id + occasion,
            .subject = from + row.kind,
            .body = row.payload,
            .defect = row.defect,
            .from = row.into,
            .again = row.again || row.replay.has_value(),
            .replayed = row.replay.has_value(),
            .created_at = in.committed_at};
}

}  // namespace

database::database(world& where, const profile& how)
    : world_(where), profile_(how), writers_(how.writers), replay_dice_(how.replay_seed) {
    new_partition_at_ = world_.random().between(sim_time(0), 2 * profile_.faulty_time);
    new_other_at_ = world_.random().between(sim_time(0), 2 * profile_.faulty_time);
}

std::vector<outbox_table> tables_of(const configuration& wanted) {
    std::vector<outbox_table> all;
    const auto add = [&](table which, const char* subject) {
        all.push_back({.table = name_of(which), .subject = subject, .body = body_format::payload});
        all.back().republish = {"kind", std::string(database::again_kind)};
    };
    add(table::outbox, "events.{kind}");
    if (wanted.letters) {
        add(table::letters, "letters.{kind}");
    }
    return all;
}

postgres_facts database::facts(const configuration& wanted) const {
    constexpr type_oid text = 25;
    postgres_facts known;
    known.control_secret = control_secret;
    known.origin = line_.origin;
    for (const auto& each : tables_of(wanted)) {
        auto& one = known.tables.emplace_back();
        one.table = each.table;
        one.columns = {{"id", text}, {"kind", text}, {"payload", text}};
    }
    known.other_tables = {name_of(table::users)};
    if (!wanted.letters) {
        known.other_tables.push_back(name_of(table::letters));
    }
    if (world_.now() >= new_partition_at_) {
        known.tables[0].leaves.push_back(name_of(table::new_partition));
    }
    // A table that was dropped again is in the WAL but in no catalog.
    if (world_.now() >= new_other_at_ && new_other_at_.count() % 2 == 0) {
        known.other_tables.push_back(name_of(table::new_other));
    }
    return known;
}

table_sight database::look_at(const table_name& which, const configuration& wanted) const {
    const auto known = facts(wanted);
    const auto& leaves = known.tables[0].leaves;
    const bool is_leaf = std::ranges::find(leaves, which) != leaves.end();
    const auto& others = known.other_tables;
    return {is_leaf || std::ranges::find(others, which) != others.end(), is_leaf};
}

void database::start(std::function<void()> on_wal, std::function<bool()> leaves_letters) {
    on_wal_ = std::move(on_wal);
    leaves_letters_ = std::move(leaves_letters);
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
            if (world_.random().chance(profile_.updates) && !events_.empty()) {
                update(by);
            } else {
                insert(by);
            }
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
    constexpr std::uint64_t letters_share = 40;
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
    if (choice >= other_share && choice < letters_share) {
        return table::letters;
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
        row.defect = world_.random().pick(
            std::array{poison::too_large, poison::sometimes_too_large, poison::refused});
    }
    // Half of them, whether the table is dropped again or not.
    row.has_other_columns = row.into == table::new_other && new_other_at_.count() % 4 >= 2;
    row.payload = "{\"of\": \"" + row.id + "\", \"filler\": \"" + std::string(filler, 'x') + "\"}";
    if (row.defect == poison::too_large) {
        row.payload.append(max_payload_bytes, ' ');
    } else if (row.defect == poison::sometimes_too_large) {
        row.payload.append(lower_max_payload_bytes, ' ');
    } else if (row.defect == poison::refused) {
        row.payload += refused_mark;
    }
    into.rows.push_back(std::move(row));
}

void database::update(writer& into) {
    const auto& of = events_[world_.random().below(events_.size())];
    const auto before = of.again ? std::nullopt : row_of(of.id);
    if (!before) {
        return;
    }
    auto row = *before;
    row.at = append(400);
    row.kind = again_kind;
    row.again = true;
    row.leaves_payload = world_.random().chance(500);
    into.rows.push_back(std::move(row));
}

std::optional<inserted_row> database::row_of(const std::string& id) const {
    for (const auto& each : committed_) {
        for (const auto& row : each.rows) {
            if (row.id == id && !row.again && !row.replay) {
                return row;
            }
        }
    }
    return std::nullopt;
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
        if (is_outbox(row.into) || row.replay) {
            ++count;
            events_.push_back(event_of(row, done, line_));
            events_.back().excused = row.into == table::letters && leaves_letters_();
        }
    }
    world_.say("database: commit ", to_string(done.commit), " end ", to_string(done.end), " with ",
               count, " outbox rows of ", done.rows.size());
    committed_.push_back(std::move(done));
    if (profile_.replays > 0 && replay_dice_.chance(profile_.replays)) {
        replay_some();
    }
}

/// As a batch of `walrelay replay`: rows of earlier, in the order of their commits.
void database::replay_some() {
    constexpr std::uint64_t most_rows = 6;
    transaction batch;
    batch.xid = ++last_xid_;
    const auto number = ++last_replay_;
    auto from = replay_dice_.below(events_.size() + 1);
    for (const auto last = from + replay_dice_.between(1, most_rows);
         from < std::min<std::uint64_t>(last, events_.size()); ++from) {
        const auto& of = events_[from];
        const auto original = of.again || of.from != table::outbox ? std::nullopt : row_of(of.id);
        if (!original || original->defect != poison::none) {
            continue;
        }
        auto row = *original;
        row.into = table::control;
        row.replay = {number, to_string(position{
                                  {line_.origin.system_identifier, line_.timeline_of(of.where.row)},
                                  of.where})};
        row.at = wal_end_;
        wal_end_.value += 64;
        records_.push_back(wal_end_);
        batch.rows.push_back(std::move(row));
    }
    batch.commit = wal_end_;
    wal_end_.value += 64;
    records_.push_back(wal_end_);
    batch.end = wal_end_;
    batch.committed_at = world_.now_for_the_relay().wall;
    for (const auto& row : batch.rows) {
        events_.push_back(event_of(row, batch, line_));
    }
    world_.say("database: replay ", number, " of ", batch.rows.size(), " rows, commit ",
               to_string(batch.commit));
    committed_.push_back(std::move(batch));
}

bool database::store_dead_letter(const dead_letter& letter, checker& watch) {
    if (up_) {
        watch.on_set_aside(letter.where, letter.message_id);
        dead_letters_.emplace(letter.message_id, letter.where);
    }
    return up_;
}

void database::keep_halt(const std::string& reason) {
    if (up_) {
        world_.say("database: halted: ", reason);
        halt_ = reason;
    }
}

result<std::optional<std::uint64_t>> database::store_witness(const witness& what) {
    if (!up_) {
        return error{errc::postgres_unavailable, "the database is down"};
    }
    const auto now = the_witness();
    if ((now ? now->version : 0) != what.version) {
        return std::optional<std::uint64_t>{};
    }
    kept_witness next{wal_end_, what, lsn{first_lsn}, wal_end_};
    ++next.what.version;
    if (now) {
        const auto& before = witnesses_.back();
        const bool has_passed = before.next <= what.told;
        next.snapshot = has_passed ? before.next : before.snapshot;
        next.next = has_passed ? wal_end_ : before.next;
    }
    world_.say("database: witness ", next.what.version, " names sequence ", what.sequence,
               ", told ", to_string(what.told));
    append(200);
    witnesses_.push_back(std::move(next));
    if (on_wal_) {
        on_wal_();
    }
    return std::optional(witnesses_.back().what.version);
}

std::optional<witness> database::the_witness() const {
    return witnesses_.empty() ? std::nullopt : std::optional(witnesses_.back().what);
}

lsn database::witness_snapshot() const {
    return witnesses_.empty() ? lsn{} : witnesses_.back().snapshot;
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
    give_ids_again();
    lines_.push_back(line_);
    line_.ancestors.push_back({line_.origin.timeline, at});
    ++line_.origin.timeline;
    world_.say("database: timeline ", line_.origin.timeline, " begins at ", to_string(at));
    if (std::ranges::find(lines_, line_) != lines_.end()) {
        watch.on_history_repeated();
    }
    append(200);  // the record of the end of recovery
    records_.clear();
    line_began_ = wal_end_;
    return at;
}

void database::restore(const lineage& line, lsn at, checker& watch) {
    crash();
    leave_branch(at, watch);
    restored_over_.push_back(line_);
    lines_.push_back(line_);
    line_ = line;
    world_.say("database: is restored from a copy, on timeline ", line_.origin.timeline);
    std::erase_if(records_, [&](lsn end) { return end > at; });
    // What was stored on a later timeline is in no copy of an earlier one.
    for (const auto& [id, where] : dead_letters_) {
        if (!line_.shares(where)) {
            watch.on_letter_lost(id);
        }
    }
    std::erase_if(dead_letters_, [&](const auto& each) { return !line_.shares(each.second); });
    append(200);  // the checkpoint at the end of recovery
    line_began_ = std::min(line_began_, at);
}

/// From what is left on.
void database::give_ids_again() {
    constexpr std::size_t before_number = 4;  // "row-"
    if (!profile_.ids_come_again) {
        return;
    }
    last_id_ = 0;
    for (const auto& each : events_) {
        last_id_ = std::max<std::uint64_t>(last_id_, std::stoull(each.id.substr(before_number)));
    }
}

/// What was committed from `at` on was never there.
void database::leave_branch(lsn at, checker& watch) {
    ++incarnation_;
    watch.on_branch_left(at);
    for (const auto& each : events_) {
        if (each.where.commit >= at) {
            orphans_.emplace(each.id, orphan{each, line_});
            left_out_.erase(each.id);
        }
    }
    std::erase_if(events_, [&](const outbox_event& each) { return each.where.commit >= at; });
    std::erase_if(committed_, [&](const transaction& each) { return each.commit >= at; });
    std::erase_if(dead_letters_, [&](const auto& each) { return each.second.at.commit >= at; });
    const bool had_witness = !witnesses_.empty();
    std::erase_if(witnesses_, [&](const kept_witness& each) { return each.committed >= at; });
    lost_witness_ = lost_witness_ || (had_witness && witnesses_.empty());
    world_.say("database: goes back from ", to_string(wal_end_), " to ", to_string(at));
    wal_end_ = at;
}

bool database::has_known(const position& where) const {
    return line_.shares(where) ||
           std::any_of(restored_over_.begin(), restored_over_.end(),
                       [&](const lineage& each) { return each.shares(where); });
}

std::vector<const orphan*> database::orphans_of(const std::string& id) const {
    std::vector<const orphan*> all;
    for (auto [each, end] = orphans_.equal_range(id); each != end; ++each) {
        all.push_back(&each->second);
    }
    return all;
}

}  // namespace walrelay::sim
