// The database: writers that insert, commit and roll back, and the WAL that comes of it. What was
// committed stays, in commit order; what was rolled back was never there.
#pragma once

#include "core/change.hpp"
#include "core/dead_letter.hpp"
#include "core/facts.hpp"
#include "core/lineage.hpp"
#include "core/outbox_table.hpp"
#include "core/position.hpp"
#include "core/table_sight.hpp"
#include "core/witness.hpp"
#include "relay/confirm/write_backs.hpp"
#include "sim/configuration.hpp"
#include "sim/profile.hpp"
#include "sim/world.hpp"

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace walrelay::sim {

enum class table { outbox, letters, users, new_partition, new_other, control };

class checker;

/// Why a row can never be in the stream.
enum class poison {
    none,
    too_large,
    sometimes_too_large,  // where the server's max_payload is the lower one
    refused,
};

/// A row of an outbox as it must appear in the stream.
struct outbox_event {
    commit_position where;
    std::string id;
    std::string subject;
    std::string body;
    poison defect = poison::none;
    table from = table::outbox;
    /// Committed while a relay ran that does not know its table: it may be left out.
    bool excused = false;
    /// An update or a replay published it again; `id` says when.
    bool again = false;
    /// Nothing is written back for it.
    bool replayed = false;
    wall_time created_at = {};
};

/// A row of a branch that was left.
struct orphan {
    outbox_event row;
    lineage line;
};

struct inserted_row {
    table into = table::outbox;
    lsn at;
    std::string id;
    std::string kind;
    std::string payload;
    /// Of a table whose columns have other names than an outbox's.
    bool has_other_columns = false;
    poison defect = poison::none;
    /// An update that publishes the row again, and says so in `kind`.
    bool again = false;
    /// It leaves the payload where it is stored, so that the WAL does not hold it.
    bool leaves_payload = false;
    /// Of a row of walrelay.control: the replay, and the position that its row has of itself.
    struct replayed_row {
        std::uint64_t number = 0;
        std::string position;
    };
    std::optional<replayed_row> replay = {};
};

struct transaction {
    std::uint32_t xid = 0;
    lsn commit;
    lsn end;
    wall_time committed_at;
    std::vector<inserted_row> rows;
};

/// What walrelay.control_key holds.
inline constexpr const char* control_secret = "only walrelay's roles know";

[[nodiscard]] table_name name_of(table which);
[[nodiscard]] constexpr bool is_outbox(table which) {
    return which == table::outbox || which == table::letters || which == table::new_partition;
}

class database {
public:
    database(world& where, const profile& how);

    /// Lets the writers begin; `on_wal` is called whenever the WAL has grown, and `leaves_letters`
    /// tells whether a relay may read letters now and not know them.
    void start(std::function<void()> on_wal, std::function<bool()> leaves_letters);
    void stop_writing() { writing_ = false; }
    [[nodiscard]] bool is_writing() const { return writing_; }
    /// What is not committed never happened.
    void crash();
    void recover() { up_ = true; }
    [[nodiscard]] bool is_up() const { return up_; }
    /// The primary is gone for good, and a standby goes on in its place that has its WAL up to
    /// somewhere behind `at_least`; returns up to where. What came after is of a dead branch, and
    /// its LSNs are used again.
    lsn promote(lsn at_least, checker& watch);
    /// The database is that of a copy of the disk, made when the WAL of `line` ended at `at`.
    /// Nothing in it tells that it went on before.
    void restore(const lineage& line, lsn at, checker& watch);
    [[nodiscard]] const lineage& line() const { return line_; }
    /// Whether a position is of the present history; after a restore, of any that there was.
    [[nodiscard]] bool has_known(const position& where) const;
    /// Counts promotions and restores: what a connection reaches is the same server as long as it
    /// stays.
    [[nodiscard]] std::uint64_t incarnation() const { return incarnation_; }
    /// The rows of dead branches that have this message id.
    [[nodiscard]] std::vector<const orphan*> orphans_of(const std::string& id) const;

    /// All transactions of the present history.
    [[nodiscard]] const std::vector<transaction>& committed() const { return committed_; }
    /// Every row that must be in the stream, in its order.
    [[nodiscard]] const std::vector<outbox_event>& events() const { return events_; }
    [[nodiscard]] lsn wal_end() const { return wal_end_; }
    /// What the making of a slot writes (slot.c, ReplicationSlotReserveWal: LogStandbySnapshot).
    void log_running_transactions() { append(64); }
    /// Commits a dead letter; false where the database is down.
    [[nodiscard]] bool store_dead_letter(const dead_letter& letter, checker& watch);
    /// By message id.
    [[nodiscard]] const std::map<std::string, position>& dead_letters() const {
        return dead_letters_;
    }
    /// An operator went on without the row; nobody is to miss it again.
    void leave_out(const std::string& id) { left_out_.insert(id); }
    [[nodiscard]] bool is_left_out(const std::string& id) const { return left_out_.contains(id); }
    /// The payload of a row as its table has it; nothing where there is no such row.
    [[nodiscard]] std::optional<inserted_row> row_of(const std::string& id) const;
    /// Commits why nobody may go on, as walrelay.halt does; nothing where the database is down.
    void keep_halt(const std::string& reason);
    [[nodiscard]] const std::optional<std::string>& halt() const { return halt_; }
    /// As `walrelay resume`, and the relay that goes on.
    void end_halt() { halt_.reset(); }
    /// Commits a change of the witness: the new version, nothing where another relay has changed
    /// it. Errors: the database is down.
    [[nodiscard]] result<std::optional<std::uint64_t>> store_witness(const witness& what);
    /// As walrelay.witness has it; nothing where there is no row.
    [[nodiscard]] std::optional<witness> the_witness() const;
    /// Transactions that commit from here on are later than all that it names.
    [[nodiscard]] lsn witness_snapshot() const;
    /// A standby without any has taken over, although the slot was told by one.
    [[nodiscard]] bool has_lost_witness() const { return lost_witness_; }
    /// Commits a batch of write-backs; false where the database is down.
    [[nodiscard]] bool write_back(const relay::write_back_batch& batch, checker& watch) const;
    /// What the catalog says now of the tables that are wanted.
    [[nodiscard]] postgres_facts facts(const configuration& wanted) const;
    /// The same of one table.
    [[nodiscard]] table_sight look_at(const table_name& which, const configuration& wanted) const;

    /// In the bytes of a message that the stream always refuses.
    static constexpr std::string_view refused_mark = "refuse me";
    /// An update that sets the kind to it publishes the row again.
    static constexpr std::string_view again_kind = "again";
    static constexpr std::uint64_t max_payload_bytes = 8192;
    static constexpr std::uint64_t lower_max_payload_bytes = 4096;
    static constexpr history first_history{7239482374982374912U, 1};

private:
    static constexpr std::uint64_t first_lsn = 0x1500000;
    struct writer {
        std::vector<inserted_row> rows;
    };

    void leave_branch(lsn at, checker& watch);
    void give_ids_again();
    void write(std::size_t which);
    void insert(writer& into);
    void update(writer& into);
    void commit(writer& finished);
    void replay_some();
    table choose_table();
    /// Appends a record; returns where it begins.
    lsn append(std::uint64_t size_max);

    world& world_;
    const profile& profile_;
    std::function<void()> on_wal_;
    std::function<bool()> leaves_letters_;
    std::vector<writer> writers_;
    std::vector<transaction> committed_;
    std::vector<outbox_event> events_;
    lineage line_{first_history};
    /// Where records of the present timeline end.
    std::vector<lsn> records_;
    lsn line_began_{first_lsn};
    std::vector<lineage> restored_over_;
    std::vector<lineage> lines_;  // all that there were
    std::uint64_t incarnation_ = 1;
    /// Rows of dead branches by their ids, of which none is used again.
    std::multimap<std::string, orphan> orphans_;
    std::map<std::string, position> dead_letters_;
    std::set<std::string> left_out_;
    std::optional<std::string> halt_;
    /// Each change of the witness, and when it was committed.
    struct kept_witness {
        lsn committed;
        witness what;
        lsn snapshot;
        lsn next;
    };
    std::vector<kept_witness> witnesses_;
    bool lost_witness_ = false;
    lsn wal_end_{first_lsn};
    std::uint32_t last_xid_ = 700;
    std::uint64_t last_id_ = 0;
    // Drawn aside, so that seeds without replays tell the same story.
    randomness replay_dice_;
    std::uint64_t last_replay_ = 0;
    bool writing_ = false;
    bool up_ = true;
    // When the two younger tables were made; nothing before.
    sim_time new_partition_at_{0};
    sim_time new_other_at_{0};
};

}  // namespace walrelay::sim
