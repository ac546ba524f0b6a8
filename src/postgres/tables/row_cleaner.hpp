// Deletes rows of one table by the values of a column, a few at a time and never against anybody
// else: what is locked is left for later. Knows nothing of messages.
#pragma once

#include "core/error.hpp"
#include "core/outbox_table.hpp"
#include "postgres/catalog/write_back_sql.hpp"
#include "postgres/session/connection.hpp"

#include <boost/asio/awaitable.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace walrelay::postgres {

/// Rows where `null_columns` are NULL and `column` has one of the values, each as the output
/// function of the column's type writes it.
struct rows_by_value {
    std::string column = {};
    std::vector<std::string> null_columns = {};
    std::vector<std::string> values = {};
};

struct cleaned_rows {
    std::uint64_t deleted = 0;
    /// Values of rows that satisfy `pending`, or that something holds on to: see `why`.
    std::vector<std::string> kept = {};
    /// The server's words for the last row that it refused to delete; empty where it refused none.
    std::string why = {};
};

class row_cleaner {
public:
    /// Takes over a connection of connection_kind::sql. The table must outlive the cleaner.
    /// `oid` is pg_class.oid of the table whose rows were published: of one that has its name
    /// since nothing is deleted. `outboxes` are all of the configuration (postgres/fragment_path).
    [[nodiscard]] static boost::asio::awaitable<result<row_cleaner>> begin(
        connection sql, const outbox_table& table, std::uint32_t oid,
        std::vector<table_name> outboxes);

    /// Deletes the rows in one transaction. A value that is none of the column's type stands for no
    /// row. Errors: those that pass (postgres_lost, postgres_unavailable; nothing was deleted), and
    /// postgres_unsuitable with the GRANT or what else an operator has to do. Where the name is
    /// that of another table now, postgres_lost.
    [[nodiscard]] boost::asio::awaitable<result<cleaned_rows>> clean(rows_by_value rows);
    /// Those of the values of which there are rows. Errors: as above.
    [[nodiscard]] boost::asio::awaitable<result<std::vector<std::string>>> there_among(
        rows_by_value rows);
    /// Those of the ids that are message ids of dead letters, other than those of other outboxes.
    [[nodiscard]] boost::asio::awaitable<result<std::vector<std::string>>> dead_among(
        std::vector<std::string> ids);
    void close() { sql_.close(); }

private:
    row_cleaner(connection sql, const outbox_table& table, std::uint32_t oid,
                std::vector<std::string> open_schemas)
        : sql_(std::move(sql)), table_(&table), oid_(oid), open_schemas_(std::move(open_schemas)) {}

    /// How rows are found by a column's values.
    [[nodiscard]] boost::asio::awaitable<result<keyed_rows>> look_at(std::string column);
    [[nodiscard]] boost::asio::awaitable<result<void>> remove(rows_by_value rows, keyed_rows how,
                                                              cleaned_rows& done);
    [[nodiscard]] boost::asio::awaitable<result<void>> find_pending(rows_by_value rows,
                                                                    keyed_rows how,
                                                                    cleaned_rows& done);
    [[nodiscard]] error explain_refusal(const server_report& report) const;

    connection sql_;
    const outbox_table* table_;
    std::uint32_t oid_;
    std::vector<std::string> open_schemas_;
    std::vector<std::string> other_schemas_ = {};
    std::vector<std::string> other_tables_ = {};
};

}  // namespace walrelay::postgres
