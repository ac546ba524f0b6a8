#include "tasks/dead_letter/table_writes.hpp"

#include "core/bytea_text.hpp"
#include "core/type_oid.hpp"
#include "servers/postgres_access.hpp"
#include "servers/translate.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace walrelay::tasks {
namespace {

using boost::asio::awaitable;

std::vector<postgres::written_row> rows_of(const relay::write_back_batch& batch, history origin) {
    std::vector<postgres::written_row> rows;
    rows.reserve(batch.rows.size());
    for (const auto& row : batch.rows) {
        std::optional<position> doubtful;
        if (row.reread) {
            doubtful = position{origin, row.where};
        }
        rows.push_back({row.key, doubtful, row.xid});
    }
    return rows;
}

/// In the form that the decoders give values.
relay::table_row first_row_of(const postgres::row_set& rows) {
    relay::table_row row;
    for (std::size_t index = 0; index < rows.column_names().size(); ++index) {
        const auto type = rows.column_types()[index];
        row.columns.push_back({rows.column_names()[index], type});
        auto value = rows.at(0, index);
        if (value && type == oid::bytea) {
            value = digits_of_bytea(*value);
        }
        row.values.push_back(std::move(value));
    }
    return row;
}

}  // namespace

awaitable<result<void>> table_writes::open(std::optional<postgres::outbox_writer>& writer) {
    if (writer) {
        co_return result<void>{};
    }
    // Letters are the relay's own: no code of others may stand beside them.
    const auto open_session =
        &writer == &for_dead_letters_ ? servers::open_sql : servers::open_for_outboxes;
    auto sql = co_await open_session(executor_, settings_);
    if (!sql) {
        co_return sql.error();
    }
    if (&writer == &for_fetches_) {
        // Nothing is read on before a row is fetched: somebody's lock is told, and not waited out
        // in silence.
        const auto set = co_await sql->query("SET lock_timeout = '5s'");
        if (!set) {
            co_return set.error();
        }
    }
    auto tables = servers::published_tables_of(settings_);
    auto opened = co_await postgres::outbox_writer::begin(std::move(*sql), std::move(tables),
                                                          settings_.postgres.slot);
    if (!opened) {
        co_return opened.error();
    }
    if (closed_) {
        co_return error{errc::postgres_lost, "the replication connection ended meanwhile"};
    }
    writer.emplace(std::move(*opened));
    co_return result<void>{};
}

awaitable<result<void>> table_writes::set_aside(const std::vector<dead_letter>& letters) {
    const auto ready = co_await open(for_dead_letters_);
    if (!ready) {
        co_return ready.error();
    }
    static const outbox_table unknown;
    std::vector<postgres::outbox_writer::row_set_aside> rows;
    rows.reserve(letters.size());
    for (const auto& letter : letters) {
        const auto table = std::ranges::find(settings_.outbox, letter.source, &outbox_table::table);
        rows.push_back({table == settings_.outbox.end() ? &unknown : &*table, &letter});
    }
    if (settings_.postgres.writer.empty()) {
        co_return co_await for_dead_letters_->set_aside(std::move(rows));
    }
    co_return co_await set_aside_by_two(std::move(rows));
}

/// As postgres.writer and as the relay.
awaitable<result<void>> table_writes::set_aside_by_two(
    std::vector<postgres::outbox_writer::row_set_aside> rows) {
    auto all = rows;
    auto fresh = co_await for_dead_letters_->without_letter(std::move(all));
    if (!fresh) {
        co_return fresh.error();
    }
    const auto ready = co_await open(for_statuses_);
    if (!ready) {
        co_return ready.error();
    }
    const auto updated = co_await for_statuses_->set_statuses(std::move(*fresh));
    if (!updated) {
        for_statuses_.reset();
        co_return updated.error();
    }
    co_return co_await for_dead_letters_->keep_letters(std::move(rows));
}

awaitable<result<void>> table_writes::write_back(const relay::write_back_batch& batch,
                                                 history origin) {
    const auto ready = co_await open(for_write_backs_);
    if (!ready) {
        co_return ready.error();
    }
    auto rows = rows_of(batch, origin);
    auto done = co_await for_write_backs_->write_back(settings_.outbox[batch.table],
                                                      std::move(rows), batch.retried);
    if (!done) {
        for_write_backs_.reset();
    }
    co_return done;
}

awaitable<result<std::optional<relay::table_row>>> table_writes::fetch(
    const relay::fetch_row& wanted) {
    using fetched = std::optional<relay::table_row>;
    const auto ready = co_await open(for_fetches_);
    if (!ready) {
        co_return ready.error();
    }
    postgres::written_row row{wanted.key, {}, wanted.xid};
    const auto found = co_await for_fetches_->fetch(settings_.outbox[wanted.table], std::move(row),
                                                    settings_.delivery.max_row_bytes.bytes);
    if (!found) {
        co_return found.error();
    }
    if (found->too_large_bytes > 0) {
        co_return fetched{{{}, {}, found->too_large_bytes}};
    }
    // Two rows of one id: it cannot be told which was updated.
    co_return found->row.size() == 1 ? fetched{first_row_of(found->row)} : fetched{};
}

int table_writes::process_of(relay::waiting_write what) const {
    const auto& writer =
        what == relay::waiting_write::statuses ? for_write_backs_ : for_dead_letters_;
    return writer ? writer->server_process() : 0;
}

void table_writes::close() {
    closed_ = true;
    for (auto* const writer :
         {&for_dead_letters_, &for_statuses_, &for_write_backs_, &for_fetches_}) {
        if (*writer) {
            (*writer)->close();
        }
    }
}

}  // namespace walrelay::tasks
