// The driver's questions to PostgreSQL beside the stream: what a table is, who holds a lock.

#include "app/clock.hpp"
#include "app/postgres_link.hpp"
#include "app/relay_driver.hpp"
#include "postgres/catalog/blockers.hpp"
#include "postgres/catalog/table_look.hpp"
#include "servers/postgres_access.hpp"
#include "servers/translate.hpp"

#include <string>
#include <utility>

namespace walrelay::app {

namespace asio = boost::asio;

asio::awaitable<void> relay_driver::look_at_table(relay::look_at_table wanted) {
    const auto over = postgres_;
    if (!over || over->epoch != wanted.epoch) {
        co_return;
    }
    if (!over->onlooker) {
        auto opened = co_await servers::open_sql_unchecked(io_.get_executor(), settings_);
        if (!opened) {
            machine_.table_looked_at(wanted.epoch, opened.error(), now());
            settle();
            co_return;
        }
        over->onlooker = std::move(*opened);
    }
    auto outboxes = servers::published_tables_of(settings_);
    const auto seen = co_await postgres::look_at_table(*over->onlooker, std::move(wanted.table),
                                                       std::move(outboxes));
    machine_.table_looked_at(wanted.epoch, seen, now());
    settle();
}

/// Over a connection of its own, as it is rare.
asio::awaitable<void> relay_driver::find_blocker(relay::find_blocker wanted) {
    const auto over = postgres_;
    if (!over || over->epoch != wanted.epoch) {
        co_return;
    }
    result<std::string> who = std::string("its connection is still being made");
    if (const auto process = over->writes.process_of(wanted.what); process != 0) {
        auto sql = co_await servers::open_sql_unchecked(io_.get_executor(), settings_);
        if (sql) {
            who = co_await postgres::describe_blockers(*sql, process);
        } else {
            who = sql.error();
        }
    }
    machine_.blocker_found(wanted.epoch, wanted.what, who, now());
    settle();
}

}  // namespace walrelay::app
