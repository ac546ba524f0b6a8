// What is known of messages that the broker did not take. Pure.
#pragma once

#include "core/position.hpp"

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <utility>

namespace walrelay::relay {

/// A message whose id the stream has.
struct taken_id {
    position where;
    std::string id;
    std::uint64_t sequence = 0;
    /// The answer holds for this connection alone: on another one the broker is asked anew.
    bool by_id = false;
    enum class question {
        whose_message,
        /// That message is gone: whether the stream still reaches so far.
        where_it_ends,
        /// The same, and that was asked since.
        end_is_asked,
    } open = question::whose_message;
};

class refusals {
public:
    /// It is to be found out whose the message is that has the id.
    void ask_of(taken_id what) { taken_.push_back(std::move(what)); }
    /// The first of those that are open; null where none is.
    [[nodiscard]] const taken_id* asked_of() const {
        return taken_.empty() ? nullptr : &taken_.front();
    }
    void ask_now(taken_id::question what) { taken_.front().open = what; }
    /// That question is answered, or in vain.
    taken_id take_question() {
        auto asked = std::move(taken_.front());
        taken_.pop_front();
        return asked;
    }
    /// On another connection the broker says again whose ids are taken.
    void drop_questions() { taken_.clear(); }

    /// Returns how often in all the message of this row was refused for itself.
    std::uint32_t count(commit_position where) { return ++attempts_[where]; }
    /// It is decided what becomes of that row.
    void forget(commit_position where) { attempts_.erase(where); }
    /// Another history begins.
    void forget_all() { attempts_.clear(); }

    /// The broker says that an id is taken, without having the message. Returns whether it has said
    /// so before, with no message stored since: the server that leads the stream is stuck.
    [[nodiscard]] bool is_stuck() { return ++stuck_ > 1; }
    void one_was_stored() { stuck_ = 0; }

    /// The next connection is to ask for another leader.
    void want_step_down() { step_down_ = true; }
    bool take_step_down() { return std::exchange(step_down_, false); }

private:
    std::deque<taken_id> taken_;
    std::map<commit_position, std::uint32_t> attempts_;
    std::uint32_t stuck_ = 0;
    bool step_down_ = false;
};

}  // namespace walrelay::relay
