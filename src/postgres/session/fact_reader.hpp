// Reads typed values out of a row_set. A value that cannot be read is remembered as a failure, so
// that nothing takes its place. Only for the .cpp files of this folder.
#pragma once

#include "core/error.hpp"
#include "core/lsn.hpp"
#include "postgres/session/row_set.hpp"

#include <charconv>
#include <cstddef>
#include <optional>

namespace walrelay::postgres {

class fact_reader {
public:
    explicit fact_reader(const row_set& rows) : rows_(&rows) {}

    template <class Number>
    [[nodiscard]] Number number(std::size_t row, std::size_t column) {
        const auto& text = rows_->at(row, column);
        Number value{};
        if (!text.has_value()) {
            note_failure(column);
            return value;
        }
        const char* end = text->data() + text->size();
        const auto read = std::from_chars(text->data(), end, value);
        if (read.ec != std::errc{} || read.ptr != end) {
            note_failure(column);
        }
        return value;
    }

    /// Nothing for NULL.
    [[nodiscard]] std::optional<lsn> maybe_lsn(std::size_t row, std::size_t column) {
        const auto& text = rows_->at(row, column);
        if (!text.has_value()) {
            return std::nullopt;
        }
        const auto value = parse_lsn(*text);
        if (!value.has_value()) {
            note_failure(column);
        }
        return value;
    }

    /// Set if any value could not be read.
    [[nodiscard]] const std::optional<error>& failure() const { return failure_; }

private:
    void note_failure(std::size_t column) {
        failure_ = error{errc::postgres_unsuitable,
                         "PostgreSQL answered a catalog query with something else than expected in "
                         "column " +
                             rows_->column_names().at(column),
                         "use PostgreSQL 13 to 18"};
    }

    const row_set* rows_;
    std::optional<error> failure_;
};

}  // namespace walrelay::postgres
