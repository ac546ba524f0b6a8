// Which rows of a replay are published: those whose message the stream has, or that became dead
// letters. That they were written for the relay is not enough: a slot that is lost takes them
// along.
#pragma once

#include "config/settings.hpp"
#include "core/error.hpp"
#include "core/position.hpp"
#include "postgres/session/connection.hpp"
#include "postgres/tables/replay_desk.hpp"
#include "postgres/tables/replay_outcome.hpp"
#include "servers/run_to_end.hpp"

#include <boost/asio/awaitable.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace walrelay::tasks {

class replayed_rows {
public:
    explicit replayed_rows(std::int64_t number);

    /// Takes the row of this message, where it is one of the replay; also of one that became a dead
    /// letter and was retried.
    void add_message(std::string_view message_id);
    void add_letter(const postgres::replayed_letter& letter);
    void set_removed(std::uint64_t messages) { removed_ = messages; }
    void end_reading();

    [[nodiscard]] bool has(const position& row) const;
    /// Of a replay of rows as they are: by what the message id was.
    [[nodiscard]] bool has_id(std::string_view message_id) const;
    /// A dead letter that tells no id is of this row. Each stands for one.
    [[nodiscard]] bool take_event(const std::string& event);

    /// Rows whose message or dead letter is known by its id.
    [[nodiscard]] std::uint64_t count() const { return positions_.size() + ids_.size(); }
    /// Dead letters that may be of it: that tell no id, and of these such as tell no row either.
    [[nodiscard]] std::uint64_t unnamed_letters() const { return events_.size() + without_event_; }
    [[nodiscard]] std::uint64_t letters_without_row() const { return without_event_; }
    /// Of the rows that are counted.
    [[nodiscard]] std::uint64_t named_letters() const { return named_letters_; }
    /// Messages that the stream had since the replay began and has no more: some may be of it.
    [[nodiscard]] std::uint64_t removed() const { return removed_; }

private:
    std::string occasion_;
    std::vector<commit_position> positions_;
    std::unordered_set<std::string> ids_;
    std::unordered_multiset<std::string> events_;
    std::uint64_t without_event_ = 0;
    std::uint64_t named_letters_ = 0;
    std::uint64_t removed_ = 0;
};

/// Reads what the stream has got since the replay began, and the dead letters. To be called when
/// the slot has read all that was written. Errors: of either server.
[[nodiscard]] boost::asio::awaitable<result<replayed_rows>> find_replayed_rows(
    servers::executors on, const config::settings& settings, postgres::connection& sql,
    const postgres::kept_replay& of);

/// A replay that is under way, or was broken off.
struct open_replay {
    std::int64_t number = 0;
    std::uint64_t written = 0;
    /// Nothing where the relay has not read all of them yet, or the stream could not be read.
    std::optional<std::uint64_t> stored = {};
    /// Of those that were written: certainly in no message, and in no dead letter.
    std::uint64_t lost = 0;
};
/// Of the slot; none is given that has written nothing. Errors: of PostgreSQL.
[[nodiscard]] boost::asio::awaitable<result<std::vector<open_replay>>> look_at_open_replays(
    servers::executors on, const config::settings& settings, postgres::connection& sql);

}  // namespace walrelay::tasks
