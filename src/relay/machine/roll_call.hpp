// Whether the newest rows of the tables are all accounted for: in the stream, or still to come from
// the slot. Pure.
//
// A slot that was advanced, or dropped and made again, while no relay ran looks like one that only
// followed other tables. What it skipped is seen in the tables alone: a row that is there, that the
// stream does not have, and that the slot has not brought by the time it has come as far as the WAL
// was when the row was read.
//
// What is not answered is only a suspicion; an exact look at the whole stream and at the dead
// letters decides. Rows from before the slot was made are not asked for: they are older than every
// message of walrelay's, or, in their table, than every row that the stream is known to have. Nor
// are those from before the configuration changed: their table need not have been relayed then.
//
// A row that was made before the first message of a stream that has removed some may have had its
// message there: that it is missing proves nothing. It looks later than it is where it was only
// changed since. Nor does it prove anything that it is left out.
//
// While the relay runs, what the slot brings is heard from before the rows were called, so that
// nobody has to look for them in the stream: all rows are asked for that are later than that.
#pragma once

#include "core/change.hpp"
#include "core/facts.hpp"
#include "core/lineage.hpp"
#include "core/lsn.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace walrelay::relay {

struct roll_row {
    std::uint32_t table = 0;
    /// What goes out as Nats-Msg-Id.
    std::string id;
    wall_time created_at;

    friend bool operator==(const roll_row&, const roll_row&) = default;
};

/// Rows that were visible when the slot's stream began, of each table the newest.
struct roll {
    std::vector<roll_row> rows;
    /// Every one of them was committed before it.
    lsn committed_before;
    /// On the database's clock.
    wall_time taken_at;
    /// Those alone that are later than what the witness names: all of them are asked for.
    bool is_exact = false;
    /// They were looked for in all of every table, and none is left out.
    bool is_whole = true;
    /// They were committed after it.
    lsn later_than = {};
    /// Those of some table are left out because the server did not read them in time.
    bool took_too_long = false;
};

class roll_call {
public:
    /// What the last look at the stream showed; any number of times, before and after `begin`.
    /// Those of the sequences `other_rules`, which ascend, can be of another configuration. One of
    /// a branch that `line` has left answers for no row: a row that came since has its id now.
    void stream_has(const std::vector<recent_message>& recent,
                    const std::vector<std::uint64_t>& other_rules, const lineage& line);
    /// The database is on this line: the same for what was shown before.
    void begin_history(const lineage& line);
    /// When the first message was stored that limits or a purge have left; nothing where they have
    /// removed none.
    void stream_begins(std::optional<wall_time> at) { begins_at_ = at; }
    /// Takes out of a roll of later rows those that the stream may have had before it begins, so
    /// that it is not whole any more.
    void leave_out_removed(roll& asked) const;
    void begin(const roll& asked);
    /// Whether one is asked for, or is among these, that the stream may have had before it begins.
    [[nodiscard]] bool asks_for_removed(const std::vector<roll_row>& looked_for) const;
    /// From here on the rows are remembered that the slot brings, until `begin` or as long as there
    /// are not too many of them. Not while somebody is asked for.
    void hear();
    void hear_no_more();
    /// Whether all of them are remembered.
    [[nodiscard]] bool is_hearing() const { return hears_; }
    [[nodiscard]] std::size_t heard() const { return heard_.size(); }
    /// Whether `delivered` is to be told.
    [[nodiscard]] bool wants_rows() const { return open_ || hears_; }
    /// Nobody is asked for any more; what the stream has shown stays known.
    void start_over();
    /// Whether somebody is still asked for.
    [[nodiscard]] bool is_open() const { return open_; }
    /// When the oldest of those was made, on the database's clock.
    [[nodiscard]] std::optional<wall_time> oldest_awaited() const;
    /// Every row that is asked for was committed before it; 0 where nobody was asked yet.
    [[nodiscard]] lsn until() const { return until_; }
    /// The slot has brought the row of this id.
    void delivered(std::string_view id);
    /// The slot has brought everything up to here. Ends the call where that is far enough, and then
    /// gives the rows that nobody answered for.
    [[nodiscard]] std::vector<roll_row> slot_has_come_to(lsn where);

private:
    struct what_is_known {
        /// By table: when the oldest row that the stream has was made.
        std::map<std::uint32_t, wall_time> oldest;
        /// How far the clock of the rows is ahead of the broker's, at least.
        std::chrono::microseconds ahead{0};
    };
    [[nodiscard]] what_is_known compare(const roll& asked) const;
    [[nodiscard]] bool may_be_removed(const roll_row& row, std::chrono::microseconds ahead) const;

    /// By the id alone, which can be looked for as it comes.
    struct by_id {
        using is_transparent = void;
        std::size_t operator()(std::string_view id) const {
            return std::hash<std::string_view>{}(id);
        }
        std::size_t operator()(const roll_row& row) const { return (*this)(row.id); }
        bool operator()(const roll_row& one, const roll_row& other) const {
            return one.id == other.id;
        }
        bool operator()(const roll_row& row, std::string_view id) const { return row.id == id; }
        bool operator()(std::string_view id, const roll_row& row) const { return row.id == id; }
    };
    void answer_for(std::string_view id);

    bool open_ = false;
    bool hears_ = false;
    lsn until_;
    std::unordered_set<std::string> heard_;
    struct shown {
        wall_time stored_at;
        std::optional<position> where;
    };
    std::unordered_map<std::string, shown> stream_;  // by id
    std::optional<wall_time> oldest_message_;
    std::optional<wall_time> begins_at_;
    /// The clock of the rows that are asked for, as in what_is_known; nothing where the slot was
    /// heard since they were made, so that no message has to tell of them.
    std::optional<std::chrono::microseconds> ahead_;
    std::unordered_set<roll_row, by_id, by_id> missing_;
};

}  // namespace walrelay::relay
