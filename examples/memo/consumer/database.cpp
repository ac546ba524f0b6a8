// See database.hpp.
#include "consumer/database.hpp"

#include <libpq-fe.h>

#include <stdexcept>

namespace memo {
namespace {

struct clear_result {
    void operator()(PGresult* answer) const { PQclear(answer); }
};

std::vector<sql_row> rows_of(const PGresult* answer) {
    std::vector<sql_row> rows(static_cast<std::size_t>(PQntuples(answer)));
    for (int row = 0; row < PQntuples(answer); ++row) {
        for (int column = 0; column < PQnfields(answer); ++column) {
            auto& fields = rows[static_cast<std::size_t>(row)];
            if (PQgetisnull(answer, row, column) != 0) {
                fields.emplace_back();
            } else {
                fields.emplace_back(PQgetvalue(answer, row, column));
            }
        }
    }
    return rows;
}

}  // namespace

void database::closer::operator()(pg_conn* connection) const {
    PQfinish(connection);
}

database::database(const std::string& conninfo) : connection_(PQconnectdb(conninfo.c_str())) {
    if (PQstatus(connection_.get()) != CONNECTION_OK) {
        throw std::runtime_error(PQerrorMessage(connection_.get()));
    }
}

std::vector<sql_row> database::query(const std::string& sql,
                                     const std::vector<std::string>& values) {
    std::vector<const char*> pointers;
    pointers.reserve(values.size());
    for (const auto& value : values) {
        pointers.push_back(value.c_str());
    }
    const std::unique_ptr<PGresult, clear_result> answer(
        PQexecParams(connection_.get(), sql.c_str(), static_cast<int>(values.size()), nullptr,
                     pointers.data(), nullptr, nullptr, 0));
    const auto status = PQresultStatus(answer.get());
    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) {
        throw std::runtime_error(PQerrorMessage(connection_.get()));
    }
    return rows_of(answer.get());
}

transaction::transaction(database& where) : where_(where) {
    where_.query("BEGIN");
}

transaction::~transaction() {
    if (open_) {
        try {
            where_.query("ROLLBACK");
        } catch (const std::exception&) {
            // The connection is gone, and the transaction with it.
        }
    }
}

void transaction::commit() {
    where_.query("COMMIT");
    open_ = false;
}

}  // namespace memo
