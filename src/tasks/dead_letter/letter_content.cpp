#include "tasks/dead_letter/letter_content.hpp"

#include "core/dead_letter.hpp"
#include "core/occasion.hpp"
#include "outbox/id_inverse.hpp"
#include "servers/postgres_access.hpp"
#include "tasks/replay/table_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <utility>

namespace walrelay::tasks {
namespace {

using boost::asio::awaitable;

class content_reader {
public:
    content_reader(servers::executors on, const config::settings& settings)
        : on_(std::move(on)), settings_(settings) {}

    /// The row as JSON; empty, with `why` and `fix`, where it is not to be had.
    [[nodiscard]] awaitable<result<std::string>> read(const postgres::contentless_letter& letter,
                                                      empty_letter& without);

private:
    /// Null where the configuration has no such table.
    [[nodiscard]] awaitable<result<table_rows*>> rows_of(const table_name& table);
    [[nodiscard]] awaitable<result<std::string>> read_row(table_rows& in,
                                                          const std::string& condition,
                                                          std::string_view id,
                                                          empty_letter& without);

    servers::executors on_;
    const config::settings& settings_;
    std::optional<postgres::connection> sql_;
    std::map<table_name, std::unique_ptr<table_rows>> tables_;
};

std::string drop_of(std::int64_t letter) {
    return fmt::format("walrelay dead-letter drop {}", letter);
}

/// Its row was to be published a second time. What was published before is not touched by that.
bool is_of_an_update(const postgres::contentless_letter& letter) {
    return occasion_of(last_occasion(letter.message_id)) == occasion_kind::republication;
}

/// Where no row of the letter's id is in the table.
void say_that_it_is_gone(const postgres::contentless_letter& letter, empty_letter& without) {
    without.why = "its row is not in " + to_string(letter.source) + " any more";
    without.fix = is_of_an_update(letter)
                      ? drop_of(letter.id) +
                            "; what was published of the row before is still published: only where "
                            "consumers need it once more, have its writer write the event again"
                      : "have its writer write the event again; then: " + drop_of(letter.id);
}

awaitable<result<table_rows*>> content_reader::rows_of(const table_name& table) {
    const auto known = std::ranges::find(settings_.outbox, table, &outbox_table::table);
    if (known == settings_.outbox.end() || known->is_tableless()) {
        co_return nullptr;
    }
    if (!sql_) {
        auto opened = co_await servers::open_sql(on_.loop, settings_);
        if (!opened) {
            co_return opened.error();
        }
        sql_.emplace(std::move(*opened));
    }
    auto& rows = tables_[table];
    if (!rows) {
        auto name = table;
        auto opened = co_await table_rows::open(settings_, *sql_, std::move(name));
        if (!opened) {
            co_return opened.error();
        }
        rows = std::move(*opened);
    }
    co_return rows.get();
}

awaitable<result<std::string>> content_reader::read(const postgres::contentless_letter& letter,
                                                    empty_letter& without) {
    if (is_of_large_replayed_row(letter.message_id, letter.reason)) {
        without.why = "which row a replay was to publish, another replay alone can tell";
        without.fix = fmt::format(
            "raise delivery.max_row_bytes for the relay, restart it, and publish the row again: "
            "walrelay replay; then: {}",
            drop_of(letter.id));
        co_return std::string();
    }
    if (is_message_source(letter.source)) {
        without.why = "a message of pg_logical_emit_message is in no table";
        without.fix =
            "have its writer emit it again; once that is published: " + drop_of(letter.id);
        co_return std::string();
    }
    const auto rows = co_await rows_of(letter.source);
    if (!rows) {
        co_return rows.error();
    }
    if (*rows == nullptr) {
        without.why = to_string(letter.source) + " is no table of the configuration";
        without.fix =
            "run this with the configuration that has it; or, to go on without the row: " +
            drop_of(letter.id);
        co_return std::string();
    }
    say_that_it_is_gone(letter, without);
    if (letter.message_id.empty()) {
        without.why = "it has no message id by which its row could be found";
        co_return std::string();
    }
    auto id = outbox::row_of_message(letter.message_id).id;
    id = id.substr(0, id.rfind(";replay-"));
    for (const auto& condition : (*rows)->conditions_of(id)) {
        auto content = co_await read_row(**rows, condition, id, without);
        // A condition that no row can meet is refused.
        if (!content && content.error().code != errc::configuration_invalid) {
            co_return content.error();
        }
        if (content && !content->empty()) {
            co_return content;
        }
    }
    co_return std::string();
}

awaitable<result<std::string>> content_reader::read_row(table_rows& in,
                                                        const std::string& condition,
                                                        std::string_view id,
                                                        empty_letter& without) {
    auto shape = in.shape();
    auto ids = co_await postgres::ids_of_rows(*sql_, std::move(shape), condition);
    if (!ids) {
        co_return ids.error();
    }
    if (ids->size() > 1) {
        without.why = fmt::format("{} rows of its table have its id, {}", ids->size(), id);
        without.fix = fmt::format(
            "walrelay verify tells whether the stream lacks one of them; if so, have its writer "
            "write that event again under an id of its own; then: {}",
            drop_of(without.id));
    }
    if (ids->size() != 1) {
        co_return std::string();
    }
    std::string event;
    const auto take = [&](relay::replayed_row&& row) {
        if (row.row.too_large_bytes > 0) {
            without.why =
                fmt::format("its row has {} bytes, and delivery.max_row_bytes is {}",
                            row.row.too_large_bytes, settings_.delivery.max_row_bytes.bytes);
            without.fix = fmt::format(
                "raise delivery.max_row_bytes above that, for the relay as well, and start that "
                "again; then: walrelay dead-letter retry {}",
                without.id);
        } else if (row.unmappable) {
            without.why = row.unmappable->what;
            without.fix = row.unmappable->remedy;
        } else if (row.content->id == id) {
            event = std::move(row.event);
        }
    };
    auto wanted = std::move(*ids);
    const auto read = co_await in.read(*sql_, std::move(wanted), take);
    co_return read ? result<std::string>(std::move(event)) : read.error();
}

}  // namespace

std::string words_on_missing_content(const postgres::contentless_letter& letter) {
    if (is_of_large_replayed_row(letter.message_id, letter.reason)) {
        return fmt::format(
            "no content: the row was to be replayed, and was too large; once it may be so large, "
            "walrelay replay publishes it again, and {} removes this letter",
            drop_of(letter.id));
    }
    if (is_message_source(letter.source)) {
        return fmt::format(
            "no content, for the reason above: a message of pg_logical_emit_message is in no "
            "table; "
            "have its writer emit it again, once it can be published, and {} removes this letter",
            drop_of(letter.id));
    }
    if (letter.reason.find("delivery.max_row_bytes") != std::string::npos) {
        return fmt::format(
            "no content: the row was above delivery.max_row_bytes; once that is raised, walrelay "
            "dead-letter retry {} reads the row from its table again",
            letter.id);
    }
    return fmt::format(
        "no content, for the reason above; walrelay dead-letter retry {} reads the row from its "
        "table, where it is",
        letter.id);
}

awaitable<result<std::vector<empty_letter>>> read_contents(servers::executors on,
                                                           const config::settings& settings,
                                                           postgres::connection& sql,
                                                           postgres::dead_letter_selection which) {
    auto slot = settings.postgres.slot;
    const auto letters =
        co_await postgres::letters_without_content(sql, std::move(slot), std::move(which));
    if (!letters) {
        co_return letters.error();
    }
    content_reader reader(std::move(on), settings);
    std::vector<empty_letter> without;
    for (const auto& letter : *letters) {
        empty_letter still{letter.id, letter.reason};
        auto content = co_await reader.read(letter, still);
        if (!content) {
            co_return content.error();
        }
        if (content->empty()) {
            without.push_back(std::move(still));
            continue;
        }
        const auto filled =
            co_await postgres::fill_dead_letter(sql, letter.id, std::move(*content));
        if (!filled) {
            co_return filled.error();
        }
    }
    co_return without;
}

}  // namespace walrelay::tasks
