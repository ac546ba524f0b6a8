// The invariants, checked after everything that happens: order, no duplicate, no phantom, content,
// and that the slot never forgets what the stream does not have. Knows nothing of the relay.
#pragma once

#include "core/lsn.hpp"
#include "sim/database.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace walrelay::sim {

/// A message as it lies in the stream.
struct stored_message {
    std::uint64_t sequence = 0;
    std::string id;  // Nats-Msg-Id, empty where there is none
    std::string subject;
    std::string body;
    std::string position;  // Walrelay-Position, empty for a stranger's
    sim_time stored_at{0};
    bool forged = false;  // its position is a lie

    [[nodiscard]] bool is_ours() const { return !position.empty() && !forged; }
};

class checker {
public:
    checker(const database& source, const profile& how) : source_(source), profile_(how) {}

    /// The stream has taken a message of walrelay's.
    void on_stored(const stored_message& taken);
    /// A relay has looked at the stream, which ended with this sequence.
    void on_stream_seen(std::uint64_t last_sequence);
    /// A dead letter is committed.
    void on_set_aside(const position& where, const std::string& id);
    /// The database goes back to before the dead letter was committed, but not the row.
    void on_letter_lost(const std::string& id);
    /// The restored database has the timelines and switch points of one that there was: nobody can
    /// tell them apart.
    void on_history_repeated();
    /// Rows are written back in the database, unless they are dead letters.
    void on_written_back(const commit_position& where, const std::string& id);
    /// Another branch goes on from `at`: what the old one has behind it, and is about to leave the
    /// database, does not count any more.
    void on_branch_left(lsn at);
    /// No relay knows the table of letters from now on, or none need know it.
    void on_letters_left_out();
    /// A relay that is connected to a server of this history hands a message to the broker.
    static void on_published(const std::string& position, const lineage& joined);
    /// A relay says that messages of the stream up to this sequence are of a dead branch.
    void on_orphans_named(std::uint64_t last_sequence);
    /// At the end: all such messages were named before anything of a later history was published.
    void check_orphans(const std::vector<stored_message>& all) const;
    /// The stream has lost its end; `left` is what it still has. Where it happens `unseen`, with no
    /// connection ended, nothing is promised of it beside others.
    void on_stream_lost(const std::vector<stored_message>& left, bool unseen);
    /// What the stream had stored long ago is gone, and `left` is there now. What the slot, which
    /// stands at `slot`, does not send again must be told before anything else is published.
    void on_stream_harmed(const std::vector<stored_message>& left, lsn slot);
    /// A publish of a process that has ended is about to arrive, where the configuration can have
    /// changed since: it can fit in before rows that are missing (docs/guarantees.md).
    void on_straggler(const std::string& id);
    /// An ack tells its client that the stream has lost what it had acked before: what the slot has
    /// not confirmed by then must come again.
    void on_loss_shown();
    /// A relay tells the server, or the slot is moved, to `flushed`.
    void on_confirmed(lsn flushed, const char* where);
    /// There is no slot any more that what it confirmed could be lost from.
    void on_slot_dropped() { confirmed_ = {}; }
    /// A crash or a failover takes the slot back, which sends again what is behind.
    void on_slot_set_back(lsn to) { confirmed_ = std::min(confirmed_, to); }
    /// A session begins there: what the stream has lost after it comes again.
    void on_slot_streams(lsn from);
    /// Somebody moves the slot to here: rows that are missing in the stream will not come any more,
    /// unless it goes back. A relay that has streamed from it must tell.
    void on_slot_advanced(lsn to, bool under_a_relay);
    /// A relay starts, with these as the newest rows, and sees the last messages of the stream,
    /// those behind `since` as of its own configuration.
    void on_roll_called(const std::vector<std::string>& newest,
                        const std::vector<stored_message>& all, lsn since, bool is_exact);
    /// It has named the row, and goes on without it.
    void on_left_out(const std::string& id);
    /// It has ended with words that tell of rows which are missing.
    void on_gap_named() {
        skipped_.clear();
        to_be_named_.clear();
        given_up_.merge(lost_untold_);
        lost_untold_.clear();
    }
    /// A row that the stream has lost, and of which no relay has told yet.
    [[nodiscard]] bool has_untold_loss() const { return !lost_untold_.empty(); }
    /// A row that somebody moved the slot past, and of which no relay has told yet.
    [[nodiscard]] std::optional<std::string> to_be_named();
    /// Two positions that one connection reported, one after the other.
    static void on_reported(lsn before, lsn flushed);

    /// Whether every committed row is in the stream, or in the dead letters if it cannot be.
    [[nodiscard]] bool is_complete() {
        return first_missing() == source_.events().size() &&
               first_not_written() == source_.events().size();
    }
    /// Rows that only a broker had which forgot them, while the slot was not held back for that.
    [[nodiscard]] std::size_t lost_count() const { return lost_count_; }
    /// The first row that is not in the stream.
    [[nodiscard]] std::string missing_text();

private:
    enum class fate { missing, excused, stored, set_aside, lost };

    /// Whether it is of a dead branch; checks it then.
    bool is_orphan(const stored_message& taken);
    void note_stored(std::size_t index);
    [[nodiscard]] std::size_t index_of(const std::string& position, const std::string& id);
    /// The first event of the row; behind all of them if there is none.
    [[nodiscard]] std::size_t index_of_row(const std::string& id);
    fate& fate_of(std::size_t index);
    /// Of each row by what the stream has now; returns what they were before.
    std::vector<fate> look_again(const std::vector<stored_message>& left);
    /// Whether the relay need not know its table.
    [[nodiscard]] bool is_excused(std::size_t index) const;
    [[nodiscard]] std::size_t first_missing();
    /// The first row that is neither written back nor set aside; none without write-backs.
    [[nodiscard]] std::size_t first_not_written();
    /// Rows of the same are stored one after the other.
    [[nodiscard]] std::string order_of(std::size_t index) const;
    void check_order(std::size_t index, const std::string& name);
    /// Whether nothing is missing before it but rows whose dead letter a restore took away: a relay
    /// that has seen it set aside passes them over.
    [[nodiscard]] bool is_next(std::size_t index);

    const database& source_;
    const profile& profile_;
    std::vector<fate> fates_;
    /// By message id; as far as they were looked for.
    std::map<std::string, std::size_t> index_;
    /// The rows, with their sequences, that came after what the last look at the stream showed.
    std::map<std::size_t, std::uint64_t> unseen_;
    std::size_t settled_ = 0;             // no row before it is missing
    std::set<std::size_t> came_late_;     // for a reason that is allowed
    std::set<std::size_t> letters_lost_;  // in restores; a row whose limit was raised goes out late
    /// Rows of dead branches that are in the stream.
    std::set<std::pair<std::string, commit_position>> orphaned_;
    std::uint64_t named_up_to_ = 0;
    std::vector<bool> was_stored_;
    std::vector<bool> was_lost_;  // what comes again stands behind what the stream had kept
    std::vector<bool> written_;
    std::size_t written_before_ = 0;  // every row before it is written back or set aside
    /// Behind the last row in the stream, for each order that is promised: of the whole stream
    /// (under an empty name), or of each aggregate.
    std::map<std::string, std::size_t> next_;
    lsn confirmed_;                     // by the slot, at most
    std::size_t letters_left_out_ = 0;  // those among as many events
    std::size_t lost_count_ = 0;
    /// Rows that the slot was moved past since a relay told of any, and those that one must tell
    /// of.
    std::set<std::size_t> skipped_;
    std::set<std::size_t> to_be_named_;
    /// Rows that the stream has lost since a relay told of a loss.
    std::set<std::size_t> lost_untold_;
    /// Rows of such a loss, without which an operator has gone on. Where a crash sets the slot back
    /// they come all the same, and if they are lost once more they need not come, nor be told of.
    std::set<std::size_t> given_up_;
};

}  // namespace walrelay::sim
