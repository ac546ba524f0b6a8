// One statement through a session, from sending it to the last of its results.
#include "postgres/session/session.hpp"
#include "postgres/session/sqlstate.hpp"

#include <utility>

namespace walrelay::postgres {
namespace {

server_report closed_report() {
    return {{}, "the connection is closed"};
}

bool send_statement(PGconn* handle, query_protocol protocol, const std::string& sql,
                    const std::vector<std::string>& parameters) {
    if (protocol == query_protocol::simple) {
        return PQsendQuery(handle, sql.c_str()) == 1;
    }
    std::vector<const char*> values;
    values.reserve(parameters.size());
    for (const auto& parameter : parameters) {
        values.push_back(parameter.c_str());
    }
    return PQsendQueryParams(handle, sql.c_str(), static_cast<int>(values.size()), nullptr,
                             values.data(), nullptr, nullptr, 0) == 1;
}

std::vector<cell> read_row(const PGresult* from, int row) {
    std::vector<cell> cells;
    for (int column = 0; column < PQnfields(from); ++column) {
        if (PQgetisnull(from, row, column) == 1) {
            cells.emplace_back();
        } else {
            cells.emplace_back(std::in_place, PQgetvalue(from, row, column),
                               static_cast<std::size_t>(PQgetlength(from, row, column)));
        }
    }
    return cells;
}

row_set read_rows(const PGresult* from) {
    std::vector<std::string> names;
    std::vector<std::uint32_t> types;
    names.reserve(static_cast<std::size_t>(PQnfields(from)));
    for (int column = 0; column < PQnfields(from); ++column) {
        names.emplace_back(PQfname(from, column));
        types.push_back(PQftype(from, column));
    }
    std::vector<std::vector<cell>> rows;
    rows.reserve(static_cast<std::size_t>(PQntuples(from)));
    for (int row = 0; row < PQntuples(from); ++row) {
        rows.push_back(read_row(from, row));
    }
    return {std::move(names), std::move(rows), std::move(types)};
}

}  // namespace

server_report own_schema_avoided() {
    return {std::string(sqlstate::undefined_schema), "the schema walrelay is not used"};
}

answer read_answer(const PGresult* from) {
    switch (PQresultStatus(from)) {
        case PGRES_TUPLES_OK:
        case PGRES_COMMAND_OK:
        case PGRES_EMPTY_QUERY:
            return read_rows(from);
        case PGRES_COPY_BOTH:
        case PGRES_COPY_IN:
        case PGRES_COPY_OUT:
            return server_report{{}, "the statement began a copy"};
        default:
            return report_of(from);
    }
}

boost::asio::awaitable<answer> run_statement(std::shared_ptr<session> with, query_protocol protocol,
                                             std::string sql, std::vector<std::string> parameters,
                                             row_visitor each) {
    if (with == nullptr || with->is_closed()) {
        co_return closed_report();
    }
    if (with->refuses(sql)) {
        co_return own_schema_avoided();
    }
    if (!send_statement(with->handle(), protocol, sql, parameters)) {
        co_return report_of(with->handle());
    }
    if (each && PQsetSingleRowMode(with->handle()) != 1) {
        // What it would give at once must not count as no rows.
        with->close();
        co_return server_report{{}, "the rows cannot be read one by one"};
    }
    bool whole = co_await with->write_all();
    std::optional<answer> last;
    while (!with->is_closed()) {
        while (whole && PQisBusy(with->handle()) == 1) {
            whole = co_await with->read_more();
        }
        if (with->is_closed()) {
            break;
        }
        if (!whole && PQsocket(with->handle()) >= 0) {
            co_return server_report{{}, "no answer in time"};
        }
        // Once the connection broke, this does not block: it gives what came before, then the loss.
        const pq_result next{PQgetResult(with->handle())};
        if (next == nullptr) {
            break;
        }
        if (PQresultStatus(next.get()) == PGRES_SINGLE_TUPLE) {
            each(read_rows(next.get()));
        } else if (!last.has_value() || last->has_value()) {
            last = read_answer(next.get());
        }
    }
    if (with->is_closed() || !last.has_value()) {
        co_return closed_report();
    }
    co_return std::move(*last);
}

}  // namespace walrelay::postgres
