// The row that the stream's last message stands for, until the slot has sent it, and what the last
// messages around it show. Pure; a part of the lane.
#pragma once

#include "core/facts.hpp"
#include "core/lineage.hpp"
#include "core/position.hpp"
#include "relay/lane/stream_tail.hpp"

#include <optional>
#include <string_view>
#include <vector>

namespace walrelay::relay {

class claimed_tail {
public:
    /// Nothing while none is to be met.
    [[nodiscard]] const std::optional<tail_claim>& row() const { return row_; }
    void make(tail_claim row) { row_ = std::move(row); }
    void drop() { row_.reset(); }
    /// What it was made of; `whole` where none is missing among them. Those of other histories than
    /// `line` tell nothing.
    void show(std::vector<placed_message> placed, bool whole, const lineage& line);
    void show_nothing() { shown_.clear(); }

    /// Whether the stream's last messages begin before this row, or with the stream itself.
    [[nodiscard]] bool shows_others_around(const commit_position& where) const {
        return !shown_.empty() && (shows_all_ || shown_.front().where.at <= where);
    }
    /// Whether they leave it out then.
    [[nodiscard]] bool leaves_out(const commit_position& where, std::string_view id) const;

private:
    std::optional<tail_claim> row_;
    /// By position.
    std::vector<placed_message> shown_;
    /// All that the stream ever had, perhaps.
    bool shows_all_ = false;
};

}  // namespace walrelay::relay
