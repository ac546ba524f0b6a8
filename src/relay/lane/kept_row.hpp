// The row that a message was made of, kept until the message is stored: if the broker refuses the
// message, its dead letter can be written without reading the row from the slot again. Pure.
#pragma once

#include "core/change.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace walrelay::relay {

class kept_row {
public:
    /// Rows with more bytes are not kept: the default window of 4,096 stays within 16 MiB of them.
    static constexpr std::size_t bytes_max = 4096;

    /// Copies the row, of the table `table` of the configuration. `about` is its description and
    /// must be the one that the fields belong to.
    void keep(std::size_t table, const std::shared_ptr<const relation>& about,
              const row_insert& row);
    /// Nothing is kept then; memory up to `kept_bytes` stays.
    void clear(std::size_t kept_bytes);

    [[nodiscard]] bool is_kept() const { return about_ != nullptr; }
    [[nodiscard]] std::size_t table() const { return table_; }
    [[nodiscard]] const relation& about() const { return *about_; }
    /// Views into this object.
    [[nodiscard]] std::vector<field> fields() const;

private:
    std::size_t table_ = 0;
    std::shared_ptr<const relation> about_;
    /// One value after the other; what is behind them is of an earlier row.
    std::unique_ptr<char[]> bytes_;
    std::size_t capacity_ = 0;
    std::vector<std::uint16_t> lengths_;
};

}  // namespace walrelay::relay
