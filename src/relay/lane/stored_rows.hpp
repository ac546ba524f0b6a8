// What a stream has of the rows that the slot still sends, message by message. Pure.
//
// The stream's last message alone is a checkpoint only where everything before it was published
// under the same rules. After a change of the configuration, of sole_writer, of the history or of
// the form of positions that is not so; then every row is looked up here.
#pragma once

#include "core/lineage.hpp"
#include "core/lsn.hpp"
#include "core/message.hpp"
#include "core/position.hpp"

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace walrelay::relay {

/// Which messages are wanted.
struct stored_rows_request {
    /// Where the slot stands: rows of transactions that committed before are not sent any more.
    lsn since;
    lineage line;
    /// A row is the same only if its message id is, too: LSNs of another history may be used again.
    bool compares_ids = false;
    /// The sequences within which rows were published that had been left out before, so that
    /// positions are not in order there; the second is nothing where that has not ended.
    std::uint64_t disordered_after = 0;
    std::optional<std::uint64_t> disordered_until = 0;
    /// While ids are compared: what is of no timeline of the server's counts as well where it lies
    /// before this end of its WAL. What the server has written since it cannot have in common.
    lsn wal_end = {};
    /// As many messages of rows that the slot does not send any more must be seen before the first
    /// that it sends: somebody else can have written a few.
    std::uint64_t margin = 1;
    /// Rows can be missing in front of later ones, so that what the stream has dropped tells
    /// nothing of them.
    bool has_holes = false;
    /// A message that was published of a table's row stands for the row of its id that was
    /// committed before. Not where the database can have been restored to a time before the
    /// message: others can have those ids and LSNs now.
    bool rows_of_tables = true;
};

/// Which messages a stream does not have any more.
enum class removed_messages {
    none,
    /// From its beginning.
    oldest,
    /// Those that a newer one of their subject has replaced (max_msgs_per_subject), too.
    replaced,
};

class stored_rows {
public:
    /// Messages of the stream that the history of the database does not have.
    struct orphans {
        std::uint64_t count = 0;
        std::uint64_t first_sequence = 0;
        std::uint64_t last_sequence = 0;
    };

    explicit stored_rows(stored_rows_request wanted) : wanted_(std::move(wanted)) {}

    /// To be called with the messages of the stream in their order, beginning anywhere; `where` is
    /// nothing for one that is not walrelay's.
    void add(std::uint64_t sequence, const std::optional<position>& where, std::string_view id);
    /// Whether what was added begins before the first row that the slot sends; otherwise the stream
    /// must be read from further back.
    [[nodiscard]] bool reaches_back() const;
    /// No more messages; `from_the_beginning` if the stream has none before the first that was
    /// added.
    void end(bool from_the_beginning, removed_messages removed);

    /// Whether the stream has the event of this position and id.
    [[nodiscard]] bool has(const commit_position& where, std::string_view id) const;
    /// Whether it can have the event of this position, whose id is not known.
    [[nodiscard]] bool may_have(const commit_position& where) const;
    /// The greatest position; nothing if there is none.
    [[nodiscard]] const std::optional<commit_position>& newest() const { return newest_; }
    /// Rows up to this one cannot be looked up, because the stream has dropped messages; they count
    /// as stored. Nothing where that is not so.
    [[nodiscard]] const std::optional<commit_position>& floor() const { return floor_; }
    [[nodiscard]] const orphans& orphaned() const { return orphans_; }
    /// Of the last message that was added; 0 if there is none.
    [[nodiscard]] std::uint64_t last_sequence() const { return last_sequence_; }
    [[nodiscard]] std::size_t size() const { return rows_.size() + counted_.size(); }

private:
    struct row {
        lsn at;
        std::uint64_t index = 0;
        std::uint64_t id_hash = 0;

        friend auto operator<=>(const row&, const row&) = default;
    };

    /// Published of a table's row: stands for the row of that id that was committed before.
    struct table_row {
        std::uint64_t id_hash = 0;
        lsn before;

        friend auto operator<=>(const table_row&, const table_row&) = default;
    };

    void add_row(const commit_position& at, std::string_view id);
    [[nodiscard]] bool has_of_table(const commit_position& where, std::string_view id) const;

    stored_rows_request wanted_;
    std::vector<row> rows_;
    std::vector<table_row> of_tables_;
    /// By commit and id, where positions are of the first version.
    std::set<std::pair<lsn, std::string>> counted_;
    std::optional<commit_position> first_;
    std::uint64_t leading_ = 0;  // before the first row that the slot sends
    std::uint64_t first_sequence_ = 0;
    /// The first, unless somebody else wrote it.
    std::optional<commit_position> least_;
    /// The last in the order of the stream: those of before can be forged.
    std::optional<commit_position> last_;
    std::uint64_t last_sequence_ = 0;
    std::optional<commit_position> newest_;
    std::optional<commit_position> floor_;
    orphans orphans_;
};

}  // namespace walrelay::relay
