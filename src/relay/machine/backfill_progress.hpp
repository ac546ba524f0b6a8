// Rows that are read from the tables before the slot is streamed from: how far that is. Pure.
//
//     begun -> rows have ended -> all of them are in the stream: the slot is adopted -> over
#pragma once

#include "relay/machine/postgres_session.hpp"

#include <optional>
#include <utility>

namespace walrelay::relay {

class backfill_progress {
public:
    void begin(backfill what) {
        what_ = std::move(what);
        rows_ended_ = false;
        adopting_ = false;
        witnessed_ = false;
    }
    [[nodiscard]] bool is_open() const { return what_.has_value(); }
    /// While there is one.
    [[nodiscard]] const backfill& what() const { return *what_; }

    [[nodiscard]] bool wants_rows() const { return is_open() && !rows_ended_; }
    void rows_ended() { rows_ended_ = true; }
    /// Whether the slot is to be adopted once all is confirmed.
    [[nodiscard]] bool waits_for_acks() const { return is_open() && rows_ended_ && !adopting_; }
    /// Whether the witness is to be written now, which comes before that.
    [[nodiscard]] bool is_first_to_be_witnessed() { return !std::exchange(witnessed_, true); }
    void adopting() { adopting_ = true; }
    /// The slot is adopted: there is no gap any more.
    void adopted() {
        what_.reset();
        gap_ = false;
    }
    /// Returns whether there was one.
    bool give_up() { return std::exchange(what_, std::nullopt).has_value(); }

    /// The next connection is to fill a gap from the tables.
    [[nodiscard]] bool fills_gap() const { return gap_; }
    void fill_gap() { gap_ = true; }
    /// Another relay has the slot, and has met the gap as well: whoever takes over looks anew.
    void leave_gap() { gap_ = false; }

private:
    std::optional<backfill> what_;
    bool rows_ended_ = false;
    bool adopting_ = false;
    bool witnessed_ = false;
    bool gap_ = false;
};

}  // namespace walrelay::relay
