// What the adapter to PostgreSQL asks and writes beside the stream.

#include "app/clock.hpp"
#include "app/postgres_adapter.hpp"
#include "app/postgres_link.hpp"
#include "postgres/catalog/blockers.hpp"
#include "postgres/catalog/inspector.hpp"
#include "postgres/catalog/table_look.hpp"
#include "postgres/tables/witness_store.hpp"
#include "servers/postgres_access.hpp"
#include "servers/translate.hpp"
#include "tasks/startup_check/startup_check.hpp"

#include <string>
#include <utility>

namespace walrelay::app {

namespace asio = boost::asio;

// Each belongs to the connection that it is asked of, and ends with it.

void postgres_adapter::store_witness(relay::store_witness wanted) {
    if (const auto over = link_of(wanted.epoch)) {
        spawn(keep_witness(over, std::move(wanted)));
    }
}

/// One at a time, over a connection of its own: nothing else may keep it waiting.
asio::awaitable<void> postgres_adapter::keep_witness(link_handle over,
                                                     relay::store_witness wanted) {
    if (!over->for_witness || over->for_witness->server_process() == 0) {
        over->for_witness.reset();
        auto opened = co_await servers::open_for_writes(on_.loop, settings_);
        if (over->closed) {
            co_return;
        }
        if (!opened) {
            driver_.witness_stored(wanted.epoch, opened.error());
            co_return;
        }
        // A lock on its row holds the slot back, which is to be told.
        const auto set = co_await opened->query("SET lock_timeout = '3s'");
        if (over->closed) {
            co_return;
        }
        if (!set) {
            driver_.witness_stored(wanted.epoch, set.error());
            co_return;
        }
        over->for_witness = std::move(*opened);
    }
    auto slot = settings_.postgres.slot;
    auto outboxes = servers::published_tables_of(settings_);
    const auto stored = co_await postgres::store_witness(
        *over->for_witness, std::move(slot), std::move(wanted.what), std::move(outboxes));
    if (!stored) {
        over->for_witness.reset();
    }
    driver_.witness_stored(wanted.epoch, stored);
}

void postgres_adapter::store_dead_letters(relay::store_dead_letters wanted) {
    if (const auto over = link_of(wanted.epoch)) {
        spawn(set_aside(over, std::move(wanted)));
    }
}

asio::awaitable<void> postgres_adapter::set_aside(link_handle over,
                                                  relay::store_dead_letters wanted) {
    const auto stored = co_await over->writes.set_aside(*wanted.letters);
    driver_.dead_letters_stored(wanted.epoch, stored);
}

void postgres_adapter::write_back(relay::write_back wanted) {
    if (const auto over = link_of(wanted.epoch)) {
        spawn(write(over, std::move(wanted)));
    }
}

asio::awaitable<void> postgres_adapter::write(link_handle over, relay::write_back wanted) {
    const auto done = co_await over->writes.write_back(wanted.batch, over->line.origin);
    driver_.written_back(wanted.epoch, done);
}

void postgres_adapter::fetch_row(relay::fetch_row wanted) {
    if (const auto over = link_of(wanted.epoch)) {
        spawn(fetch(over, std::move(wanted)));
    }
}

asio::awaitable<void> postgres_adapter::fetch(link_handle over, relay::fetch_row wanted) {
    auto fetched = co_await over->writes.fetch(wanted);
    driver_.row_fetched(wanted.epoch, std::move(fetched));
}

void postgres_adapter::look_at_table(relay::look_at_table wanted) {
    if (const auto over = link_of(wanted.epoch)) {
        spawn(look(over, std::move(wanted)));
    }
}

asio::awaitable<void> postgres_adapter::look(link_handle over, relay::look_at_table wanted) {
    if (!over->onlooker) {
        auto opened = co_await servers::open_sql_unchecked(on_.loop, settings_);
        if (!opened) {
            driver_.table_looked_at(wanted.epoch, opened.error());
            co_return;
        }
        over->onlooker = std::move(*opened);
    }
    auto outboxes = servers::published_tables_of(settings_);
    const auto seen = co_await postgres::look_at_table(*over->onlooker, std::move(wanted.table),
                                                       std::move(outboxes));
    driver_.table_looked_at(wanted.epoch, seen);
}

void postgres_adapter::find_blocker(const relay::find_blocker& wanted) {
    if (const auto over = link_of(wanted.epoch)) {
        spawn(ask_for_blocker(over, wanted));
    }
}

/// Over a connection of its own, as it is rare.
asio::awaitable<void> postgres_adapter::ask_for_blocker(link_handle over,
                                                        relay::find_blocker wanted) {
    result<std::string> who = std::string("its connection is still being made");
    if (const auto process = over->writes.process_of(wanted.what); process != 0) {
        auto sql = co_await servers::open_sql_unchecked(on_.loop, settings_);
        if (sql) {
            who = co_await postgres::describe_blockers(*sql, process);
        } else {
            who = sql.error();
        }
    }
    driver_.blocker_found(wanted.epoch, wanted.what, who);
}

void postgres_adapter::ask_replayed(const relay::ask_replayed& wanted) {
    if (const auto over = link_of(wanted.epoch)) {
        spawn(ask_for_place(over));
    }
}

asio::awaitable<void> postgres_adapter::ask_for_place(link_handle over) {
    if (!over->witness) {
        auto opened = co_await servers::open_replication(on_.loop, settings_);
        if (!opened) {
            driver_.replayed(over->epoch, opened.error());
            co_return;
        }
        over->witness = std::move(*opened);
    }
    const auto place = co_await postgres::ask_replayed(*over->witness);
    driver_.replayed(over->epoch, place);
}

// These go over connections of their own.

void postgres_adapter::look_for_rows(relay::look_for_rows wanted) {
    spawn(search(std::move(wanted)));
}

asio::awaitable<void> postgres_adapter::search(relay::look_for_rows wanted) {
    const auto began = own_now().monotonic;
    const auto missing =
        co_await tasks::find_missing(on_, settings_, std::move(wanted.rows), line());
    row_caller_.were_looked_for(own_now().monotonic - began);
    driver_.rows_looked_for(wanted.epoch, missing);
}

void postgres_adapter::leave_out(relay::leave_out wanted) {
    spawn(keep_left_out(std::move(wanted)));
}

asio::awaitable<void> postgres_adapter::keep_left_out(relay::leave_out wanted) {
    const auto kept = co_await tasks::leave_out(on_.loop, settings_, std::move(wanted.rows));
    driver_.rows_left_out(kept);
}

void postgres_adapter::store_halt(relay::store_halt wanted) {
    spawn(keep_halt(std::move(wanted)));
}

asio::awaitable<void> postgres_adapter::keep_halt(relay::store_halt wanted) {
    halt_is_kept_ = co_await servers::keep_halt(on_.loop, settings_, std::move(wanted.reason),
                                                std::move(wanted.fix));
    driver_.halt_stored();
}

}  // namespace walrelay::app
