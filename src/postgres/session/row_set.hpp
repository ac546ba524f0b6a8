// The rows of a query's answer, as text.
#pragma once

#include "core/assert.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace walrelay::postgres {

/// The text of a value, or nothing for NULL.
using cell = std::optional<std::string>;

class row_set {
public:
    row_set() = default;
    row_set(std::vector<std::string> column_names, std::vector<std::vector<cell>> rows,
            std::vector<std::uint32_t> column_types = {})
        : column_names_(std::move(column_names)),
          column_types_(std::move(column_types)),
          rows_(std::move(rows)) {}

    [[nodiscard]] bool empty() const { return rows_.empty(); }
    [[nodiscard]] std::size_t size() const { return rows_.size(); }
    [[nodiscard]] const std::vector<std::vector<cell>>& rows() const { return rows_; }
    [[nodiscard]] const std::vector<std::string>& column_names() const { return column_names_; }

    /// The oids of the columns' types, a domain's being that of its base type.
    [[nodiscard]] const std::vector<std::uint32_t>& column_types() const { return column_types_; }

    /// Both counted from 0; row and column must exist.
    [[nodiscard]] const cell& at(std::size_t row, std::size_t column) const {
        WALRELAY_ASSERT(row < rows_.size() && column < rows_[row].size());
        return rows_[row][column];
    }

    /// The text of a value, empty for NULL.
    [[nodiscard]] std::string text(std::size_t row, std::size_t column) const {
        return at(row, column).value_or(std::string{});
    }

    /// Of a boolean column; NULL is false.
    [[nodiscard]] bool flag(std::size_t row, std::size_t column) const {
        return at(row, column) == "t";
    }

private:
    std::vector<std::string> column_names_;
    std::vector<std::uint32_t> column_types_;
    std::vector<std::vector<cell>> rows_;
};

}  // namespace walrelay::postgres
