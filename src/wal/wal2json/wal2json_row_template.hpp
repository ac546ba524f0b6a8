// What the rows of one table have in common in wal2json's text: everything but the values. A row
// that fits is read by comparing bytes, without looking at its description again. It must not know
// where the description comes from.
#pragma once

#include "core/change.hpp"
#include "wal/wal2json/wal2json_cursor.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace walrelay::wal {

class wal2json_row_template {
public:
    /// Fits no row.
    wal2json_row_template() = default;

    /// Fits the rows of the table as it is described. Of a table with a name in it that would have
    /// to be escaped it fits none: such names are too rare to be fast.
    explicit wal2json_row_template(const relation& table);

    /// The one of the description; 0 without one.
    [[nodiscard]] std::uint64_t revision() const { return revision_; }

    /// Takes a row from `,"schema":` to its end. If it fits, `fields` are its values, as many as
    /// the table has columns and as long as the cursor's views live; if not, they are anything.
    [[nodiscard]] bool take(wal2json_cursor row, std::vector<field>& fields) const;

private:
    std::uint64_t revision_ = 0;
    /// What stands before the first value, between each two, and after the last. Empty if nothing
    /// fits.
    std::vector<std::string> between_;
};

}  // namespace walrelay::wal
