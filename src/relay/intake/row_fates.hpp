// What has been decided about single rows before they are read (again): refused by the broker, a
// dead letter already, in the stream whatever its last messages say. Pure.
#pragma once

#include "core/message.hpp"
#include "core/position.hpp"
#include "relay/intake/dead_letters.hpp"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace walrelay::relay {

class row_fates {
public:
    /// The broker will never take the message of this position.
    void condemn(commit_position where, condemnation reason);
    /// The same for a row of a snapshot, which has another position each time.
    void condemn_row(const std::string& message_id, condemnation reason);
    /// The rows of these positions are dead letters, and stay so also where they could be delivered
    /// by now: an operator has them in his hands.
    void keep_dead(std::vector<commit_position> letters);
    /// PostgreSQL was asked to store these, and has not answered: what is said of them on the next
    /// connection can be older than that. They are set aside again, whatever has changed since.
    void stay_dead(const dead_letters& asked);
    /// The stream has the row of this position.
    void keep_stored(commit_position where) { stored_.insert(where); }
    /// The stream has lost messages, and nobody knows which of those.
    void forget_stored() { stored_.clear(); }

    /// Positions that were remembered say nothing any more.
    void begin_history();
    /// A new connection: dead letters are told anew.
    void begin_connection() { dead_.clear(); }
    /// A stream begins behind a snapshot.
    void end_snapshot() { condemned_rows_.clear(); }

    [[nodiscard]] bool is_dead(commit_position where) const;
    [[nodiscard]] bool is_stored(commit_position where) const { return stored_.contains(where); }
    /// Why the message is not to be sent; null if it is. `of_a_snapshot` knows rows by their id.
    [[nodiscard]] const condemnation* reason_for(const message& content, bool of_a_snapshot) const;

private:
    std::map<commit_position, condemnation> condemned_;
    std::map<std::string, condemnation> condemned_rows_;
    /// Sorted; a transaction can have very many.
    std::vector<commit_position> dead_;
    std::set<commit_position> stored_;
};

}  // namespace walrelay::relay
