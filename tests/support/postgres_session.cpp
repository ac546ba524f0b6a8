// See postgres_session.hpp.
#include "support/postgres_session.hpp"

#include <libpq-fe.h>

#include <stdexcept>

namespace walrelay::test {
namespace {

struct clear_result {
    void operator()(PGresult* answer) const { PQclear(answer); }
};
using answer_handle = std::unique_ptr<PGresult, clear_result>;

void require(pg_conn* connection, const PGresult* answer, const std::string& sql) {
    const auto status = PQresultStatus(answer);
    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK && status != PGRES_EMPTY_QUERY) {
        constexpr std::size_t quoted_length = 300;
        throw std::runtime_error(std::string(PQerrorMessage(connection)) +
                                 "in: " + sql.substr(0, quoted_length));
    }
}

sql_rows rows_of(const PGresult* answer) {
    sql_rows rows(static_cast<std::size_t>(PQntuples(answer)));
    for (int row = 0; row < PQntuples(answer); ++row) {
        auto& fields = rows[static_cast<std::size_t>(row)];
        for (int column = 0; column < PQnfields(answer); ++column) {
            if (PQgetisnull(answer, row, column) != 0) {
                fields.emplace_back();
            } else {
                fields.emplace_back(PQgetvalue(answer, row, column));
            }
        }
    }
    return rows;
}

std::string quoted(const std::string& text, char quote) {
    std::string result(1, quote);
    for (const char letter : text) {
        if (letter == quote) {
            result += quote;
        }
        result += letter;
    }
    return result + quote;
}

void ignore_notice(void* /*context*/, const char* /*text*/) {}

}  // namespace

void postgres_session::closer::operator()(pg_conn* connection) const {
    PQfinish(connection);
}

postgres_session::postgres_session(const std::string& conninfo)
    : connection_(PQconnectdb(conninfo.c_str())) {
    if (PQstatus(connection_.get()) != CONNECTION_OK) {
        throw std::runtime_error(PQerrorMessage(connection_.get()));
    }
    PQsetNoticeProcessor(connection_.get(), ignore_notice, nullptr);
}

void postgres_session::execute(const std::string& sql) {
    (void)query(sql);
}

sql_rows postgres_session::query(const std::string& sql) {
    const answer_handle answer(PQexec(connection_.get(), sql.c_str()));
    require(connection_.get(), answer.get(), sql);
    return rows_of(answer.get());
}

sql_rows postgres_session::query(const std::string& sql, const std::vector<std::string>& values) {
    std::vector<const char*> pointers;
    pointers.reserve(values.size());
    for (const auto& value : values) {
        pointers.push_back(value.c_str());
    }
    const answer_handle answer(PQexecParams(connection_.get(), sql.c_str(),
                                            static_cast<int>(values.size()), nullptr,
                                            pointers.data(), nullptr, nullptr, 0));
    require(connection_.get(), answer.get(), sql);
    return rows_of(answer.get());
}

std::string postgres_session::value_of(const std::string& sql) {
    const auto rows = query(sql);
    if (rows.empty() || rows.front().empty() || !rows.front().front()) {
        throw std::runtime_error("no value from: " + sql);
    }
    return *rows.front().front();
}

void postgres_session::copy_in(const std::string& sql, const std::string& input) {
    const answer_handle started(PQexec(connection_.get(), sql.c_str()));
    const bool taken =
        PQresultStatus(started.get()) == PGRES_COPY_IN &&
        PQputCopyData(connection_.get(), input.data(), static_cast<int>(input.size())) == 1 &&
        PQputCopyEnd(connection_.get(), nullptr) == 1;
    if (!taken) {
        throw std::runtime_error(PQerrorMessage(connection_.get()));
    }
    while (const answer_handle answer{PQgetResult(connection_.get())}) {
        require(connection_.get(), answer.get(), sql);
    }
}

int postgres_session::backend_pid() const {
    return PQbackendPID(connection_.get());
}

std::string as_literal(const std::string& text) {
    // A backslash is a backslash as long as standard_conforming_strings is on, its default.
    return quoted(text, '\'');
}

std::string as_identifier(const std::string& name) {
    return quoted(name, '"');
}

}  // namespace walrelay::test
