// The database as this process knows it: whose history the last connection reached, where its slot
// stood, and which history an operator has accepted. Empty in a new process, where nothing is known
// of any. Pure; a part of the relay machine.
#pragma once

#include "core/lineage.hpp"
#include "core/lsn.hpp"
#include "core/position.hpp"
#include "relay/machine/timeline_watch.hpp"

#include <optional>
#include <string>

namespace walrelay::relay {

class known_database {
public:
    /// `accepts_history`: an operator has said that the database is the right one, whatever its
    /// history. Once: it holds for the server that is met first, and what goes on from it.
    explicit known_database(bool accepts_history) : accepts_history_(accepts_history) {}

    // What the last connection reached.

    /// Whether there was one, or one was about to be: see begin_history.
    [[nodiscard]] bool is_known() const { return history_ != history{}; }
    [[nodiscard]] const history& origin() const { return history_; }
    [[nodiscard]] const server_identity& server() const { return server_; }
    [[nodiscard]] const lineage& line() const { return server_.line; }
    [[nodiscard]] lsn wal_end() const { return server_.wal_end; }
    [[nodiscard]] bool shares(const position& where) const { return server_.line.shares(where); }
    [[nodiscard]] const std::string& name() const { return name_; }
    /// Where the slot stood when that connection began; 0 before the first one.
    [[nodiscard]] lsn slot_confirmed() const { return slot_confirmed_; }
    /// The same of the first connection of this history.
    [[nodiscard]] std::optional<lsn> began_at() const { return began_at_; }
    [[nodiscard]] timeline_watch& timeline() { return timeline_; }
    [[nodiscard]] const timeline_watch& timeline() const { return timeline_; }

    // Another one.

    struct succession {
        history before;
        /// Where the history before was left; nothing where it was not left, but another one.
        std::optional<lsn> branch;
    };
    /// What was known belongs to the history of `line` from now on.
    succession begin_history(const lineage& line);
    void note_beginning(lsn slot_confirmed) { began_at_ = began_at_.value_or(slot_confirmed); }
    void connected(const server_identity& server, const std::string& name, lsn slot_confirmed);

    // An operator's word.

    void accept_history() { accepts_history_ = true; }
    /// It has been used.
    void accept_no_more() { accepts_history_ = false; }
    [[nodiscard]] bool accepts(const lineage& line) const;

private:
    bool accepts_history_;
    /// The one that it was said of.
    std::optional<lineage> accepted_;
    history history_;
    server_identity server_;
    std::string name_;
    lsn slot_confirmed_;
    std::optional<lsn> began_at_;
    timeline_watch timeline_;
};

}  // namespace walrelay::relay
