// The startup check: whether the slot brings, or the stream has, the newest rows of the tables; and
// what follows where some are nowhere. Pure; a part of the relay machine. The rules are those of
// relay/machine/roll_call.
//
//   begun -> (the slot has come far enough) -> rows nobody has shown -> looked for in all of the
//   stream -> all there, left out on purpose, or missing
//   missing -> (the stream is looked at again) -> looked for once more -> a gap
//
// While the relay runs, rows that came since the last time are called again and again, and judged
// in the same way: a catalog can change and change back between two looks at it.
//
// The second look is for a stream that has lost messages since it was seen: the slot has skipped
// their rows as stored, and sends them again as soon as the loss is known.
#pragma once

#include "core/error.hpp"
#include "core/facts.hpp"
#include "core/log_entry.hpp"
#include "core/lsn.hpp"
#include "relay/machine/roll_call.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace walrelay::relay {

/// Of every row that was committed before it, the stream may have had a message that its limits or
/// a purge have removed; 0 where nothing says so. `looked_at`: how many of the stream's last
/// messages were to be looked at.
[[nodiscard]] lsn may_lack_before(const stream_facts& stream, std::uint64_t looked_at);
/// When the first message was stored that its limits or a purge have left; nothing where they have
/// removed none. Where it is not told, every message may be gone.
[[nodiscard]] std::optional<wall_time> begins_at(const stream_facts& stream);

class startup_check {
public:
    /// For the words: of the relay.
    startup_check(std::string slot, std::string stream)
        : slot_(std::move(slot)), stream_(std::move(stream)) {}

    /// The stream was looked at. See roll_call::stream_has.
    void stream_has(const std::vector<recent_message>& recent,
                    const std::vector<std::uint64_t>& other_rules, const lineage& line);
    /// See roll_call::begin_history.
    void begin_history(const lineage& line) { roll_.begin_history(line); }
    /// What it has lost, the slot sends again: the rows are asked for anew.
    void stream_forgot();
    /// See may_lack_before, of the last look at the stream.
    void stream_may_lack_before(lsn where) { may_lack_before_ = where; }
    /// See roll_call::stream_begins, of the same.
    void stream_begins(std::optional<wall_time> at) { roll_.stream_begins(at); }
    /// See roll_call::leave_out_removed.
    void leave_out_removed(roll& asked) const { roll_.leave_out_removed(asked); }
    /// Rows are asked for although the stream, as it was seen since, may have had their messages:
    /// they are to be asked for anew.
    [[nodiscard]] bool asks_too_much() const {
        return (is_open() || !looked_for_.empty()) && exact_after_ &&
               (may_lack_before_ > *exact_after_ || roll_.asks_for_removed(looked_for_));
    }
    [[nodiscard]] lsn may_lack_before() const { return may_lack_before_; }
    /// Whether the newest rows are to be read with the next connection: at first, and as long as no
    /// answer has come.
    [[nodiscard]] bool is_due() const { return is_due_; }
    /// Another relay had the slot, so that it is as at first.
    void expect() { is_due_ = true; }
    /// A call while the relay runs answers for what came since then alone.
    void is_over() { is_due_ = std::exchange(stays_due_, false); }
    /// `goes_on_without`: an operator has decided to go on without rows that are missing.
    void begin(const roll& asked, bool goes_on_without);
    /// The server that the rows are of was left, or restored.
    void forget();
    /// For a call while the relay runs, see roll_call::hear: whether there can be one.
    [[nodiscard]] bool hear();
    void hear_no_more() { roll_.hear_no_more(); }
    [[nodiscard]] bool is_hearing() const { return roll_.is_hearing(); }
    [[nodiscard]] std::size_t heard() const { return roll_.heard(); }
    /// Every row that is asked for was committed before it; 0 where none was asked for yet.
    [[nodiscard]] lsn until() const { return roll_.until(); }

    /// Whether the slot's rows are to be told.
    [[nodiscard]] bool wants_rows() const { return roll_.wants_rows(); }
    /// Whether some of them are waited for.
    [[nodiscard]] bool is_open() const { return roll_.is_open(); }
    [[nodiscard]] std::optional<wall_time> oldest_awaited() const { return roll_.oldest_awaited(); }
    void delivered(std::string_view id) { roll_.delivered(id); }
    /// The slot has brought everything up to here, which can come before the stream is judged.
    void note_place(lsn where) { place_ = std::max(place_, where); }
    [[nodiscard]] lsn place() const { return place_; }
    /// The slot has brought everything up to here. Returns the line of the log where rows are to be
    /// looked for now.
    [[nodiscard]] std::optional<log_entry> slot_has_come_to(lsn where);

    /// Until they are answered for; a connection that ends before the answer asks again.
    [[nodiscard]] const std::vector<roll_row>& looked_for() const { return looked_for_; }

    enum class verdict { not_known, doubted, all_there, left_out, gap };
    /// Which of them are nowhere.
    [[nodiscard]] verdict answered(const result<std::vector<roll_row>>& missing);
    /// The stream was looked at since the rows were missing, and they are to be looked for again.
    [[nodiscard]] bool is_to_look_again() const { return doubt_ == doubt::looked_again; }
    /// What the log says of a verdict that is no gap, and not doubted.
    [[nodiscard]] log_entry describe(verdict what,
                                     const result<std::vector<roll_row>>& missing) const;
    [[nodiscard]] error gap(const std::vector<roll_row>& missing) const;

private:
    std::string slot_;
    std::string stream_;
    roll_call roll_;
    std::vector<roll_row> looked_for_;
    /// Also of another connection to PostgreSQL, which the look at the stream can call for.
    enum class doubt { none, to_look_again, looked_again } doubt_ = doubt::none;
    bool goes_on_without_ = false;
    bool is_due_ = true;
    bool stays_due_ = false;
    lsn place_;
    lsn may_lack_before_;
    /// Of a roll that asks for all later rows: after which.
    std::optional<lsn> exact_after_;
};

}  // namespace walrelay::relay
