#include "tasks/cleanup/partition_cleanup.hpp"

#include "core/progress.hpp"
#include "core/sql_text.hpp"
#include "log/log.hpp"
#include "nats/requests/stream_scan.hpp"
#include "outbox/message_id_reader.hpp"
#include "relay/machine/relay_words.hpp"
#include "servers/postgres_access.hpp"
#include "servers/translate.hpp"
#include "tasks/cleanup/kept_rules.hpp"
#include "tasks/temporary_place.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

namespace walrelay::tasks {
namespace {

namespace asio = boost::asio;
using asio::awaitable;

constexpr std::size_t rows_of_a_piece = 5000;

error ended() {
    return {errc::postgres_lost, "the clean-up was ended"};
}

std::string is_or_are(std::uint64_t count) {
    return with_thousands(count) + (count == 1 ? " is" : " are");
}

}  // namespace

partition_cleanup::partition_cleanup(servers::executors on, const config::settings& settings,
                                     std::size_t table, std::uint32_t oid,
                                     std::optional<outbox::id_inverse> inverse,
                                     history_source known, cleanup_counts& counts)
    : on_(std::move(on)),
      settings_(settings),
      number_(table),
      oid_(oid),
      table_(settings.outbox.at(table)),
      inverse_(std::move(inverse)),
      known_(std::move(known)),
      counts_(counts),
      timer_(on_.loop) {}

void partition_cleanup::close() {
    closed_ = true;
    counts_.is_known = false;
    timer_.cancel();
    if (sql_) {
        sql_->close();
    }
}

awaitable<void> partition_cleanup::run() {
    constexpr std::chrono::milliseconds shortest = std::chrono::minutes(1);
    constexpr std::chrono::milliseconds longest = std::chrono::hours(1);
    constexpr std::chrono::milliseconds again_after = std::chrono::seconds(1);
    const auto self = shared_from_this();
    const auto between = std::clamp(table_.delete_after.value() / 10, shortest, longest);
    auto again = again_after;
    while (!closed_) {
        const auto looked = co_await look();
        sql_.reset();
        missing_.reset();
        const auto pause = looked ? between : again;
        again = looked ? again_after : std::min(again * 2, between);
        if (looked && !closed_) {
            counts_.owes_nothing();
        } else if (!closed_) {
            // What is over is not known then; it would have been looked at now.
            has_failed(looked.error(), pause > again_after);
        }
        if (!closed_) {
            timer_.expires_after(pause);
            co_await timer_.async_wait(asio::as_tuple(asio::use_awaitable));
        }
    }
}

/// What passes at once is not told: at a start the stream's mark may not be known yet.
void partition_cleanup::has_failed(const error& why, bool lasts) {
    counts_.failed(why);
    counts_.owes_since(
        std::chrono::time_point_cast<wall_time::duration>(std::chrono::system_clock::now()));
    auto text = "clean-up of " + to_string(table_.table) + " waits: " + to_string(why);
    if ((lasts || relay::operator_needed(why)) && text != told_) {
        log<"cleanup_waits">(text, with<"table">(table_.table), with<"error">(why.code));
        told_ = std::move(text);
    }
}

partition_cleanup::outcome<> partition_cleanup::look() {
    auto opened = co_await servers::open_sql(on_.loop, settings_);
    if (!opened) {
        co_return opened.error();
    }
    sql_.emplace(std::move(*opened));
    auto root = table_.table;
    const auto facts =
        co_await postgres::look_at_partitions(*sql_, std::move(root), *table_.delete_after);
    if (!facts) {
        co_return facts.error();
    }
    if (facts->over.empty()) {
        co_return result<void>{};
    }
    auto recalled = co_await recall_rules();
    if (!recalled) {
        co_return recalled;
    }
    auto over = facts->over;
    auto compared = co_await compare(std::move(over));
    if (!compared) {
        co_return compared;
    }
    for (std::uint32_t number = 0; number < facts->over.size() && !closed_; ++number) {
        auto judged = co_await judge(facts->over[number], number, facts->has_default);
        if (!judged) {
            co_return judged;
        }
    }
    co_return result<void>{};
}

partition_cleanup::outcome<> partition_cleanup::compare(std::vector<postgres::partition> over) {
    auto folder = temporary_place();
    if (!folder) {
        co_return folder.error();
    }
    std::vector<table_name> names;
    names.reserve(over.size());
    for (const auto& one : over) {
        names.push_back(one.name);
    }
    const auto snapshot = co_await postgres::begin_snapshot(*sql_, std::move(names));
    if (!snapshot) {
        co_return snapshot.error();
    }
    audit::missing_rows_options how;
    how.folder = std::move(*folder);
    how.tables = over.size();
    how.expected_rows = snapshot->expected_rows;
    auto made = audit::missing_rows::make(std::move(how));
    if (!made) {
        co_return made.error();
    }
    missing_ = std::move(*made);
    pending_.clear();
    for (std::uint32_t number = 0; number < over.size(); ++number) {
        auto read = co_await read_rows(*snapshot, number);
        if (!read) {
            co_return read;
        }
    }
    auto done = co_await postgres::end_snapshot(*sql_);
    if (!done) {
        co_return done;
    }
    // Named, and the object kept alive by it: the thread may outlive whoever waits here.
    const auto scan = [self = shared_from_this(), known = known_()]() -> awaitable<result<void>> {
        co_return self->scan_stream(known);
    };
    auto scanned = co_await asio::co_spawn(on_.blocking, scan, asio::use_awaitable);
    co_return scanned ? missing_->find() : scanned;
}

partition_cleanup::outcome<> partition_cleanup::read_rows(const postgres::snapshot_facts& snapshot,
                                                          std::uint32_t number) {
    const auto& facts = snapshot.tables[number];
    auto ids = outbox::message_id_reader::make(table_, facts.columns, snapshot.domains);
    if (!ids) {
        co_return ids.error();
    }
    postgres::row_reading how{postgres::scope_of(facts), ids->columns()};
    auto opened = co_await postgres::open_cursor(*sql_, std::move(how));
    if (!opened) {
        co_return opened;
    }
    std::vector<field> values;
    std::string id;
    for (;;) {
        const auto rows = co_await postgres::fetch_rows(*sql_, rows_of_a_piece);
        if (!rows) {
            co_return rows.error();
        }
        if (rows->empty()) {
            break;
        }
        for (const auto& row : rows->rows()) {
            values.assign(row.begin(), row.end());
            if (!ids->read(values, id)) {
                missing_->add_row_without_id(number);
            } else if (auto added = missing_->add_row(number, id); !added) {
                co_return added;
            }
        }
    }
    std::uint64_t pending = 0;
    if (!table_.pending.empty()) {
        const auto counted = co_await postgres::count_rows(*sql_, facts.table, table_.pending);
        if (!counted) {
            co_return counted.error();
        }
        pending = *counted;
    }
    pending_.push_back(pending);
    co_return result<void>{};
}

bool partition_cleanup::is_of_the_table(std::string_view message_id) const {
    if (!inverse_) {
        return true;
    }
    const auto row = outbox::row_of_message(message_id).id;
    for (std::size_t which = 0; which < inverse_->alternatives().size(); ++which) {
        if (inverse_->value_of(row, which) || inverse_->encoded_value_of(row, which)) {
            return true;
        }
    }
    return false;
}

partition_cleanup::outcome<> partition_cleanup::recall_rules() {
    // Named, and the object kept alive by it: the thread may outlive whoever waits here.
    const auto ask = [self = shared_from_this(),
                      known = known_()]() -> awaitable<result<row_rules>> {
        co_return self->ask_for_rules(known);
    };
    auto asked = co_await asio::co_spawn(on_.blocking, ask, asio::use_awaitable);
    if (!asked) {
        co_return asked.error();
    }
    rules_ = std::move(*asked);
    co_return result<void>{};
}

/// An account that may have no consumers is cleaned by what the mark alone says.
result<row_rules> partition_cleanup::ask_for_rules(const audit::known_history& known) const {
    nats::cleanup_cursor cursor(servers::nats_options_of(settings_),
                                cleanup_consumer_of(settings_, number_));
    const rules_question of{number_, oid_, known};
    const auto opened = cursor.open();
    if (!opened) {
        return opened.error().code == errc::broker_unsuitable
                   ? rules_of_today(settings_, of, std::nullopt)
                   : result<row_rules>(opened.error());
    }
    return tasks::recall_rules(cursor, settings_, of);
}

result<void> partition_cleanup::scan_stream(const audit::known_history& known) {
    older_ = 0;
    auto stream = nats::stream_scan::open(servers::nats_options_of(settings_));
    if (!stream) {
        return stream.error();
    }
    audit::own_messages own(known);
    const auto add = [&](const std::optional<audit::own_message>& one) -> result<void> {
        if (!one || !is_of_the_table(one->id)) {
            return {};
        }
        if (came_before(rules_, one->where.at)) {
            ++older_;
            return {};
        }
        return missing_->add_message(one->id);
    };
    auto read = stream->read([&](const nats::scanned_message& one) -> result<void> {
        return closed_ ? ended() : add(own.add(one.id, one.position));
    });
    return read ? add(own.end()) : read;
}

std::string partition_cleanup::told_of_older() const {
    return older_ == 0 ? ""
                       : fmt::format(
                             "; {} from before LSN {}, which may have been published by another "
                             "message_id, or of another table of that name, {} not counted",
                             counted(older_, "message"), to_string(rules_.since),
                             older_ == 1 ? "is" : "are");
}

partition_cleanup::outcome<> partition_cleanup::judge(const postgres::partition& one,
                                                      std::uint32_t number, bool has_default) {
    const auto name = to_string(one.name);
    const auto missing = missing_->missing_count(number);
    if (missing > 0 || pending_[number] > 0) {
        log<"partition_kept">(
            fmt::format(
                "partition {} stays, though its time is over: of its {}, {} not in the stream "
                "(walrelay verify and walrelay dead-letter list name them), and {} pending{}",
                name, counted(missing_->row_count(number), "row"), is_or_are(missing),
                is_or_are(pending_[number]), missing > 0 ? told_of_older() : ""),
            with<"table">(name), with<"rows">(missing), with<"pending_rows">(pending_[number]));
        co_return result<void>{};
    }
    auto detached = co_await postgres::detach_partition(*sql_, table_.table, one, has_default);
    if (!detached) {
        co_return detached;
    }
    log<"partition_detached">(
        fmt::format(
            "detached partition {} of {}, which has {}: the stream has all of them. DROP TABLE {}; "
            "frees its space and destroys its rows, once nobody needs them in the database",
            name, to_string(table_.table), counted(missing_->row_count(number), "row"),
            quote_table(one.name)),
        with<"table">(table_.table), with<"partition">(name),
        with<"rows">(missing_->row_count(number)));
    const auto rows = co_await postgres::count_rows(*sql_, one.name, std::string());
    if (rows && *rows > missing_->row_count(number)) {
        log<"partition_grew">(
            fmt::format("{} came into {} while it was looked at: before you drop it, see that "
                        "they were published (walrelay dead-letter list names those that could "
                        "not be)",
                        counted(*rows - missing_->row_count(number), "row"), name),
            with<"partition">(name), with<"rows">(*rows - missing_->row_count(number)));
    }
    co_return result<void>{};
}

}  // namespace walrelay::tasks
