// A row of an outbox table becomes a message, as one [[outbox]] entry of the configuration says.
#pragma once

#include "core/change.hpp"
#include "core/error.hpp"
#include "core/message.hpp"
#include "core/outbox_table.hpp"
#include "core/position.hpp"
#include "outbox/type_kind.hpp"

#include <memory>
#include <string>
#include <vector>

namespace walrelay::outbox {

/// Maps the rows of one table. Resolves column names once for each revision of the relation, so
/// that a table altered while it is relayed is followed by name.
class table_mapper {
public:
    /// Parses the templates. Errors: configuration_invalid.
    [[nodiscard]] static result<table_mapper> make(const outbox_table& table);

    table_mapper(const table_mapper&) = delete;
    table_mapper& operator=(const table_mapper&) = delete;
    table_mapper(table_mapper&&) noexcept;
    table_mapper& operator=(table_mapper&&) noexcept;
    ~table_mapper();

    /// Domains of the database, to be given again after each connect. Forgets resolved columns. A
    /// column of a type that is neither among them nor among `made`, where that is given, has no
    /// certain value.
    void set_domains(domain_types domains, made_types made = {});

    /// From now on `map` fills `out.aggregate` as well: aggregate type and id where the row has an
    /// id, else the subject.
    void keep_aggregates();

    /// The table of the configuration.
    [[nodiscard]] const table_name& table() const;

    /// Where the rows come from, as in core/outbox_table: empty for a table.
    [[nodiscard]] const std::string& message_prefix() const;

    /// The columns that the templates name, each once or more.
    [[nodiscard]] std::vector<std::string> named_columns() const;

    /// Fills `out` (which is clear) from a row: id, subject, headers, body; `out.where` and
    /// `out.committed_at` are set by the caller before and are used for headers and times. Errors:
    /// row_unmappable (naming table, column and row id); `out` is then incomplete.
    [[nodiscard]] result<void> map(const row_insert& row, message& out);

    /// The text of the column that plays the role of id; nothing for NULL, and without such a
    /// column. Lives as long as the row.
    [[nodiscard]] field id_of(const row_insert& row);
    /// Its name; empty where the table has no such column.
    [[nodiscard]] std::string_view id_column_of(const row_insert& row);

    /// What is wrong with mapping a table of these columns; empty if nothing. One sentence each.
    [[nodiscard]] std::vector<std::string> problems_with(const std::vector<column>& columns) const;

    /// The subjects of this table's messages with wildcards in place of tokens that hold a column.
    [[nodiscard]] std::string subject_pattern() const;

private:
    struct state;
    explicit table_mapper(std::unique_ptr<state> initial);
    std::unique_ptr<state> state_;
};

}  // namespace walrelay::outbox
