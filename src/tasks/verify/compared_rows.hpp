// The rows of the tables that verify compares: which they are, how they are read, and what the
// auditor is told of each. Knows no server.
#pragma once

#include "audit/auditor.hpp"
#include "config/settings.hpp"
#include "core/error.hpp"
#include "outbox/message_id_reader.hpp"
#include "postgres/session/row_set.hpp"
#include "postgres/tables/outbox_snapshot.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace walrelay::tasks {

class compared_rows {
public:
    /// SQL that is true of rows which are compared; empty where all are.
    compared_rows(std::size_t tables, const std::string& where) : wheres_(tables, where) {}

    /// Of this table those alone of which this SQL is true as well.
    void narrow_to(std::uint32_t table, const std::string& where) {
        auto& so_far = wheres_[table];
        so_far = so_far.empty() ? where : "(" + so_far + ") AND (" + where + ")";
    }
    /// SQL that is true of rows which are known to have been stored before the first message that
    /// the stream has now.
    void were_stored(std::string where) { was_stored_ = std::move(where); }

    /// `by_age`: the auditor is told how old they are. Errors: postgres_unsuitable, and those of
    /// message_id_reader.
    [[nodiscard]] result<void> prepare(const config::settings& settings,
                                       const postgres::snapshot_facts& snapshot, bool by_age);

    [[nodiscard]] std::size_t table_count() const { return readers_.size(); }
    /// Begins with the table of this number.
    [[nodiscard]] postgres::row_reading begin(std::uint32_t number);
    /// Some that were read so. Errors: those of the auditor.
    [[nodiscard]] result<void> add(const postgres::row_set& rows, audit::auditor& to);

private:
    [[nodiscard]] audit::row_age age_of(const std::vector<postgres::cell>& row);

    /// By table.
    std::vector<std::string> wheres_;
    std::string was_stored_;
    std::vector<postgres::table_scope> tables_;
    std::vector<outbox::message_id_reader> readers_;
    /// By which the rows of a table are read; empty where it says nothing of time, or is not
    /// needed.
    std::vector<std::vector<std::string>> orders_;
    /// The table that is read.
    std::uint32_t number_ = 0;
    /// What its rows are sorted by, of the row that was read last.
    std::optional<postgres::cell> last_time_;
};

}  // namespace walrelay::tasks
