// Whether a message can be held to be walrelay's own: by its position alone, and by its place among
// the messages around it. Whoever may publish into the stream can write any header, so this is a
// rule of caution and no proof: see docs/guarantees.md. Pure.
#pragma once

#include "core/lineage.hpp"
#include "core/lsn.hpp"
#include "core/position.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace walrelay::audit {

/// What the relay that asks knows by itself.
struct known_history {
    lineage line = {};
    /// Everything that was committed before it is in the stream or set aside.
    lsn confirmed = {};
    /// Nobody else writes into the stream, so that walrelay's messages are in the order of their
    /// positions.
    bool in_order = true;
    /// For each table since when its messages have the ids of today; nothing while that is not
    /// known.
    std::vector<std::optional<lsn>> ids_since = {};
    /// The stream's mark says so: also what was published meanwhile by other rules is before it.
    bool ids_are_marked = false;
    /// Whatever another configuration has published was committed before it.
    lsn connected_at = {};
};

enum class claim : std::uint8_t {
    /// It can be a message of this database.
    fits,
    /// There is no position that can be read.
    none,
    /// The position is that of another system, of a timeline that this server does not have yet, or
    /// of a branch that it has left: a row of the same id is another one.
    foreign,
    /// The relay has not confirmed as much yet.
    ahead,
};

struct claimed_position {
    claim what = claim::none;
    /// Set unless `what` is none.
    std::optional<position> where = {};
};

/// `text` is that of the header Walrelay-Position; empty where there is none.
[[nodiscard]] claimed_position claim_of(std::string_view text, const known_history& known);

/// In the order in which one relay after the other publishes: the timeline first, because the LSNs
/// of a dead branch may lie after those that follow it.
[[nodiscard]] bool precedes(const position& one, const position& other);

/// The nearest messages with a position of this database; nothing where the stream has none.
struct neighbours {
    std::optional<position> before_that = {};
    std::optional<position> before = {};
    std::optional<position> next = {};
};

/// Whether a message at `here` stands where walrelay would have put it. Where it and a neighbour
/// contradict each other and either may be the wrong one, neither is in order.
[[nodiscard]] bool is_in_order(const position& here, const neighbours& around);

struct own_message {
    std::string id;
    position where;
};

/// Finds walrelay's own among all messages of a stream, each as soon as the next one is known.
class own_messages {
public:
    explicit own_messages(known_history known) : known_(std::move(known)) {}

    /// To be called with each message, in the order of the stream. Gives the message before it if
    /// that is walrelay's own.
    [[nodiscard]] std::optional<own_message> add(std::string_view id, std::string_view position);
    /// The same for the last message.
    [[nodiscard]] std::optional<own_message> end();

private:
    [[nodiscard]] std::optional<own_message> judge(const std::optional<position>& next);

    known_history known_;
    std::optional<position> before_that_;
    std::optional<position> before_;
    std::optional<own_message> waiting_;
};

}  // namespace walrelay::audit
