#include "tasks/startup_check/new_rows.hpp"

#include "postgres/catalog/table_inspection.hpp"
#include "postgres/tables/slot_start.hpp"
#include "servers/translate.hpp"
#include "tasks/startup_check/startup_check.hpp"

#include <utility>

namespace walrelay::tasks {

using boost::asio::awaitable;

awaitable<result<void>> new_rows::begin(postgres::connection& sql) {
    since_.reset();
    auto tables = servers::published_tables_of(settings_);
    auto now = co_await postgres::read_tables_moment(sql, std::move(tables));
    if (!now) {
        co_return now.error();
    }
    since_ = std::move(*now);
    co_return result<void>{};
}

awaitable<result<std::optional<relay::roll>>> new_rows::read(boost::asio::any_io_executor executor,
                                                             postgres::connection& sql) {
    auto tables = servers::published_tables_of(settings_);
    const auto now = co_await postgres::read_tables_moment(sql, std::move(tables));
    if (!now) {
        co_return now.error();
    }
    if (!since_ || (now->counts && now->rows_inserted == since_->rows_inserted)) {
        co_return std::nullopt;
    }
    postgres_facts facts;
    auto asked = servers::table_names_of(settings_);
    const auto inspected = co_await postgres::inspect_tables(sql, std::move(asked), "", facts);
    if (!inspected) {
        co_return inspected.error();
    }
    later_rows later{postgres::later_than(since_->snapshot, now->next), since_->inserted,
                     since_->now};
    auto called = co_await read_roll(std::move(executor), sql, settings_, facts, since_->now,
                                     std::move(later));
    if (!called) {
        co_return called.error();
    }
    if (called->took_too_long) {
        co_return error{errc::postgres_lost, "PostgreSQL did not read them within 3 seconds"};
    }
    co_return std::move(*called);
}

}  // namespace walrelay::tasks
