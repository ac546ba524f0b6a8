// Several statements through a session in one round trip and one transaction.
#include "postgres/session/session.hpp"

#include <utility>

namespace walrelay::postgres {
namespace {

bool send_all(PGconn* handle, const std::vector<statement>& all) {
    if (PQenterPipelineMode(handle) != 1) {
        return false;
    }
    for (const auto& each : all) {
        std::vector<const char*> values;
        values.reserve(each.parameters.size());
        for (const auto& parameter : each.parameters) {
            values.push_back(parameter ? parameter->c_str() : nullptr);
        }
        if (each.lent) {
            values.at(each.lent->index) = each.lent->text->c_str();
        }
        if (PQsendQueryParams(handle, each.sql.c_str(), static_cast<int>(values.size()), nullptr,
                              values.data(), nullptr, nullptr, 0) != 1) {
            return false;
        }
    }
    return PQpipelineSync(handle) == 1;
}

/// The first failure stays; statements after it are not run.
void take_unless_failed(const PGresult* next, std::optional<answer>& last) {
    const bool failed = last.has_value() && !last->has_value();
    if (!failed && PQresultStatus(next) != PGRES_PIPELINE_ABORTED) {
        last = read_answer(next);
    }
}

}  // namespace

boost::asio::awaitable<answer> run_transaction(std::shared_ptr<session> with,
                                               std::vector<statement> all) {
    const server_report closed{{}, "the connection is closed"};
    if (with == nullptr || with->is_closed()) {
        co_return closed;
    }
    for (const auto& each : all) {
        if (with->refuses(each.sql)) {
            co_return own_schema_avoided();
        }
    }
    if (!send_all(with->handle(), all)) {
        co_return report_of(with->handle());
    }
    bool whole = co_await with->write_all();
    std::optional<answer> last;
    bool ended = false;
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
        const pq_result next{PQgetResult(with->handle())};
        if (next == nullptr) {
            // Between two statements; after a loss there is nothing else.
            if (PQstatus(with->handle()) == CONNECTION_BAD) {
                break;
            }
            continue;
        }
        if (PQresultStatus(next.get()) == PGRES_PIPELINE_SYNC) {
            PQexitPipelineMode(with->handle());
            ended = true;
            break;
        }
        take_unless_failed(next.get(), last);
    }
    // What was answered is committed only once the end of the transaction is answered as well.
    if (!last.has_value() || (last->has_value() && !ended)) {
        co_return closed;
    }
    co_return std::move(*last);
}

}  // namespace walrelay::postgres
