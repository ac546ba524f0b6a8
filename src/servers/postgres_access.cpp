#include "servers/postgres_access.hpp"

#include "postgres/catalog/own_tables.hpp"
#include "postgres/catalog/snapshot_slot.hpp"
#include "postgres/session/commit_wait.hpp"
#include "postgres/session/writer_session.hpp"
#include "servers/translate.hpp"

#include <optional>
#include <utility>

namespace walrelay::servers {

using boost::asio::awaitable;

postgres::connect_options connect_options_of(const config::settings& settings) {
    postgres::connect_options options;
    options.conninfo = settings.postgres.conninfo;
    options.password_file = settings.postgres.password_file;
    options.password_command = settings.postgres.password_command;
    return options;
}

awaitable<result<postgres::connection>> open_replication(boost::asio::any_io_executor executor,
                                                         const config::settings& settings) {
    auto options = connect_options_of(settings);
    options.kind = postgres::connection_kind::replication;
    co_return co_await postgres::connection::open(executor, options);
}

namespace {

awaitable<result<void>> let_fail_over(boost::asio::any_io_executor executor,
                                      const config::settings& settings, std::string slot) {
    auto replication = co_await open_replication(std::move(executor), settings);
    if (!replication) {
        co_return replication.error();
    }
    co_return co_await postgres::enable_failover(*replication, std::move(slot));
}

}  // namespace

postgres::failover_setter failover_setter_for(boost::asio::any_io_executor executor,
                                              const config::settings& settings) {
    return [executor = std::move(executor), &settings](std::string slot) {
        return let_fail_over(executor, settings, std::move(slot));
    };
}

awaitable<result<slot_on_server>> find_slot(boost::asio::any_io_executor executor,
                                            const config::settings& settings,
                                            postgres::connection& sql) {
    auto replication = co_await open_replication(std::move(executor), settings);
    if (!replication) {
        co_return replication.error();
    }
    auto server = co_await postgres::identify(*replication);
    if (!server) {
        co_return server.error();
    }
    auto slot = settings.postgres.slot;
    auto place = co_await postgres::place_of_slot(sql, std::move(slot));
    if (!place) {
        co_return place.error();
    }
    slot_on_server found{std::move(*server), *place};
    co_return found;
}

awaitable<result<postgres::connection>> open_sql_unchecked(boost::asio::any_io_executor executor,
                                                           const config::settings& settings) {
    auto options = connect_options_of(settings);
    auto opened = co_await postgres::connection::open(executor, options);
    if (!opened) {
        co_return opened.error();
    }
    const auto set = co_await postgres::wait_for_others(*opened);
    if (!set) {
        co_return set.error();
    }
    co_return std::move(*opened);
}

awaitable<result<postgres::connection>> open_sql(boost::asio::any_io_executor executor,
                                                 const config::settings& settings) {
    auto sql = co_await open_sql_unchecked(executor, settings);
    if (!sql) {
        co_return sql.error();
    }
    auto tables = published_tables_of(settings);
    const auto trusted = co_await postgres::check_own_schema(*sql, std::move(tables));
    if (!trusted) {
        co_return trusted.error();
    }
    co_return std::move(*sql);
}

awaitable<result<postgres::connection>> open_sql_of_own_schema(
    boost::asio::any_io_executor executor, const config::settings& settings) {
    auto sql = co_await open_sql(std::move(executor), settings);
    if (!sql) {
        co_return sql.error();
    }
    if (!sql->avoids_own_schema()) {
        co_return std::move(*sql);
    }
    auto tables = published_tables_of(settings);
    const auto flaws = co_await postgres::own_schema_flaws(*sql, std::move(tables));
    if (!flaws) {
        co_return flaws.error();
    }
    if (flaws->empty()) {
        co_return std::move(*sql);
    }
    co_return error{errc::postgres_unsuitable, flaws->front().what, flaws->front().remedy};
}

namespace {

awaitable<result<postgres::connection>> open_writer(boost::asio::any_io_executor executor,
                                                    const config::settings& settings,
                                                    postgres::connection& relay) {
    postgres::connect_options options;
    options.conninfo = settings.postgres.conninfo;
    options.over = settings.postgres.writer;
    options.password_file = settings.postgres.writer_password_file;
    options.password_command = settings.postgres.writer_password_command;
    auto opened = co_await postgres::connection::open(std::move(executor), std::move(options));
    if (!opened) {
        auto why = opened.error();
        why.what = "with postgres.writer: " + why.what;
        co_return why;
    }
    auto begun = co_await postgres::act_for(*opened, relay);
    if (begun) {
        begun = co_await postgres::wait_for_others(*opened);
    }
    if (begun) {
        auto tables = published_tables_of(settings);
        begun = co_await postgres::check_own_schema(*opened, std::move(tables));
    }
    if (!begun) {
        co_return begun.error();
    }
    co_return std::move(*opened);
}

}  // namespace

awaitable<result<postgres::connection>> open_for_outboxes(boost::asio::any_io_executor executor,
                                                          const config::settings& settings) {
    auto relay = co_await open_sql(executor, settings);
    if (!relay || settings.postgres.writer.empty()) {
        co_return std::move(relay);
    }
    co_return co_await open_writer(executor, settings, *relay);
}

awaitable<result<postgres_facts>> inspect(boost::asio::any_io_executor executor,
                                          const config::settings& settings,
                                          postgres::connection& sql,
                                          postgres::inspection_request wanted) {
    std::optional<postgres::connection> writer;
    if (!settings.postgres.writer.empty()) {
        auto opened = co_await open_writer(std::move(executor), settings, sql);
        if (!opened) {
            co_return opened.error();
        }
        wanted.writer = &writer.emplace(std::move(*opened));
    }
    wanted.replication = connect_options_of(settings);
    co_return co_await postgres::inspect(sql, std::move(wanted));
}

awaitable<result<postgres::connection>> open_for_writes(boost::asio::any_io_executor executor,
                                                        const config::settings& settings) {
    auto sql = co_await open_sql(std::move(executor), settings);
    if (!sql) {
        co_return sql.error();
    }
    const auto set = co_await sql->query(postgres::wait_for_flush_sql);
    if (!set) {
        co_return set.error();
    }
    // Again, as the level may be another one now.
    const auto waits = co_await postgres::wait_for_others(*sql);
    if (!waits) {
        co_return waits.error();
    }
    co_return std::move(*sql);
}

}  // namespace walrelay::servers
