#include "tasks/startup_check/startup_check.hpp"

#include "core/occasion.hpp"
#include "core/type_oid.hpp"
#include "log/log.hpp"
#include "nats/requests/stream_scan.hpp"
#include "outbox/message_id_reader.hpp"
#include "postgres/tables/dead_letter_store.hpp"
#include "postgres/tables/newest_rows.hpp"
#include "postgres/tables/outbox_snapshot.hpp"
#include "servers/postgres_access.hpp"
#include "servers/translate.hpp"
#include "servers/unfinished_search.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <unordered_set>
#include <utility>

namespace walrelay::tasks {
namespace {

namespace asio = boost::asio;
using asio::awaitable;

bool is_timestamp(const column& candidate) {
    return candidate.type == oid::timestamp || candidate.type == oid::timestamptz;
}

/// Nothing where the table has no such column: then nobody is asked for.
std::optional<std::string> creation_time(const outbox_table& table, const table_facts& facts) {
    const auto name = table.columns.created_at.value_or("created_at");
    const bool there =
        std::any_of(facts.columns.begin(), facts.columns.end(),
                    [&](const column& each) { return each.name == name && is_timestamp(each); });
    return there ? std::optional(name) : std::nullopt;
}

class roll_taker {
public:
    roll_taker(postgres::connection& sql, const config::settings& settings,
               const postgres_facts& facts, wall_time around, later_rows later)
        : sql_(sql), settings_(settings), facts_(facts), around_(around), later_(std::move(later)) {
        taken_.is_exact = !later_.condition.empty();
        taken_.later_than = later_.after;
    }

    awaitable<result<void>> read_tables() {
        for (std::uint32_t index = 0; index < settings_.outbox.size(); ++index) {
            const auto read = co_await read_table(index);
            if (!read) {
                co_return read.error();
            }
        }
        co_return result<void>{};
    }

    /// With synchronous_commit = off a row can be seen before its commit is on the disk, and a slot
    /// brings nothing before. The WAL writer sees to that within three rounds of wal_writer_delay,
    /// of 200 ms each by default (PostgreSQL documentation, "Asynchronous Commit"). What is not
    /// flushed after that is no commit: what reading a table writes waits for the next one.
    awaitable<result<void>> read_end(asio::any_io_executor executor) {
        constexpr std::chrono::milliseconds pause{100};
        constexpr int pauses = 10;
        auto moment = co_await postgres::read_wal_moment(sql_);
        const auto seen = moment ? moment->inserted : lsn{};
        for (int count = 0; moment && moment->flushed < seen && count < pauses; ++count) {
            asio::steady_timer timer(executor, pause);
            co_await timer.async_wait(asio::use_awaitable);
            moment = co_await postgres::read_wal_moment(sql_);
        }
        if (!moment) {
            co_return moment.error();
        }
        taken_.committed_before = moment->flushed;
        taken_.taken_at = moment->now;
        co_return result<void>{};
    }

    relay::roll take() { return std::move(taken_); }

private:
    awaitable<result<void>> read_table(std::uint32_t index) {
        const auto& table = settings_.outbox[index];
        const auto& about = facts_.tables[index];
        const auto time = creation_time(table, about);
        auto ids = outbox::message_id_reader::make(table, about.columns, facts_.domains);
        if (!ids || (!time && (later_.condition.empty() || later_.since))) {
            taken_.is_whole = false;
            co_return result<void>{};
        }
        postgres::newest_rows_request request{table.table, ids->columns(),   time.value_or(""),
                                              around_,     later_.condition, later_.since};
        const auto rows = co_await postgres::read_newest_rows(sql_, std::move(request));
        if (!rows) {
            co_return rows.error();
        }
        std::vector<field> values;
        std::string id;
        taken_.is_whole = taken_.is_whole && rows->is_whole;
        taken_.took_too_long = taken_.took_too_long || rows->took_too_long;
        for (const auto& row : rows->rows) {
            values.assign(row.values.begin(), row.values.end());
            if (ids->read(values, id)) {
                taken_.rows.push_back({index, id, row.created_at});
            }
        }
        co_return result<void>{};
    }

    postgres::connection& sql_;
    const config::settings& settings_;
    const postgres_facts& facts_;
    wall_time around_;
    later_rows later_;
    relay::roll taken_;
};

using id_set = std::unordered_set<std::string>;

/// Takes out what is a dead letter of the slot. One that tells no id is of a row that has none: not
/// of these.
awaitable<result<void>> strike_dead_letters(postgres::connection& sql, const std::string& slot,
                                            id_set& ids) {
    constexpr std::size_t letters_of_a_piece = 5000;
    std::string last;
    for (;;) {
        const auto letters =
            co_await postgres::read_dead_letters(sql, slot, last, letters_of_a_piece);
        if (!letters) {
            co_return letters.error();
        }
        if (letters->empty()) {
            co_return result<void>{};
        }
        for (const auto& letter : *letters) {
            // Also where the row was published again, and that is a dead letter.
            for_each_row_id(letter.message_id,
                            [&](std::string_view id) { ids.erase(std::string(id)); });
        }
    }
}

awaitable<result<id_set>> strike_messages(nats::connect_options to, id_set ids, lineage line,
                                          std::stop_token given_up) {
    auto stream = nats::stream_scan::open(to);
    if (!stream) {
        co_return stream.error();
    }
    const auto read = stream->read([&](const nats::scanned_message& one) -> result<void> {
        if (given_up.stop_requested()) {
            return servers::search_given_up(to.stream);
        }
        const auto where = parse_position(one.position);
        if (!where || !line.has_left(*where)) {
            for_each_row_id(one.id, [&](std::string_view id) { ids.erase(std::string(id)); });
        }
        return {};
    });
    if (!read) {
        co_return read.error();
    }
    co_return std::move(ids);
}

}  // namespace

awaitable<result<relay::roll>> read_roll(asio::any_io_executor executor, postgres::connection& sql,
                                         const config::settings& settings,
                                         const postgres_facts& facts, wall_time around,
                                         later_rows later) {
    roll_taker taker(sql, settings, facts, around, std::move(later));
    auto rows = co_await taker.read_tables();
    if (rows) {
        rows = co_await taker.read_end(std::move(executor));
    }
    if (!rows) {
        co_return rows.error();
    }
    co_return taker.take();
}

awaitable<taken_roll> take_roll(asio::any_io_executor executor, postgres::connection& sql,
                                const config::settings& settings, const postgres_facts& facts,
                                wall_time around, later_rows later) {
    taken_roll taken;
    auto read =
        co_await read_roll(std::move(executor), sql, settings, facts, around, std::move(later));
    if (read) {
        taken.rows = std::move(*read);
        co_return taken;
    }
    const auto then = advice_for(read.error().code);
    if (then == advice::retry || then == advice::reconnect) {
        taken.unread_for_now = read.error();
    }
    log<"startup_check_skipped">(
        "the newest rows of the outbox tables were not compared with "
        "stream " +
            settings.nats.stream +
            ", so that a slot which was moved while no relay ran is not "
            "noticed by this connection: " +
            to_string(read.error()),
        with<"stream">(settings.nats.stream), with<"error">(read.error().code));
    co_return taken;
}

awaitable<result<std::vector<relay::roll_row>>> find_missing(servers::executors on,
                                                             const config::settings& settings,
                                                             std::vector<relay::roll_row> rows,
                                                             lineage line) {
    const servers::unfinished_search search(on.given_up, settings.nats.stream);
    id_set left;
    for (const auto& row : rows) {
        left.insert(row.id);
    }
    auto sql = co_await servers::open_sql(on.loop, settings);
    if (!sql) {
        co_return sql.error();
    }
    const auto struck_letters = co_await strike_dead_letters(*sql, settings.postgres.slot, left);
    if (!struck_letters) {
        co_return struck_letters.error();
    }
    if (!left.empty()) {
        auto to = servers::nats_options_of(settings);
        auto striking =
            strike_messages(std::move(to), std::move(left), std::move(line), on.given_up);
        auto struck =
            co_await asio::co_spawn(on.blocking, std::move(striking), asio::use_awaitable);
        if (!struck) {
            co_return struck.error();
        }
        left = std::move(*struck);
    }
    std::erase_if(rows, [&](const relay::roll_row& row) { return !left.contains(row.id); });
    std::ranges::sort(rows, {}, &relay::roll_row::id);
    co_return std::move(rows);
}

awaitable<result<void>> leave_out(asio::any_io_executor executor, const config::settings& settings,
                                  std::vector<relay::roll_row> rows) {
    auto sql = co_await servers::open_sql(std::move(executor), settings);
    if (!sql) {
        co_return sql.error();
    }
    std::vector<postgres::row_left_out> left;
    left.reserve(rows.size());
    for (auto& row : rows) {
        left.push_back({settings.outbox[row.table].table, std::move(row.id), row.created_at});
    }
    auto slot = settings.postgres.slot;
    auto outboxes = servers::published_tables_of(settings);
    co_return co_await postgres::leave_out(*sql, std::move(slot), std::move(left),
                                           std::move(outboxes));
}

}  // namespace walrelay::tasks
