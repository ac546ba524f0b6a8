#include "tasks/cleanup/row_cleanup.hpp"

#include "log/log.hpp"
#include "relay/machine/relay_words.hpp"
#include "servers/postgres_access.hpp"
#include "servers/translate.hpp"
#include "tasks/cleanup/kept_rules.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

namespace walrelay::tasks {
namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;
using asio::awaitable;

/// Between two deletions, so that writers and the relay come first.
constexpr auto breath = 20ms;
/// A row that is not to be deleted yet is looked at again, a few times.
constexpr std::uint64_t deliveries_max = 12;

}  // namespace

row_cleanup::row_cleanup(servers::executors on, const config::settings& settings, std::size_t table,
                         std::uint32_t oid, outbox::id_inverse inverse, history_source known,
                         cleanup_counts& counts)
    : on_(std::move(on)),
      settings_(settings),
      number_(table),
      oid_(oid),
      inverse_(std::move(inverse)),
      known_(std::move(known)),
      counts_(counts),
      delete_after_(settings.outbox.at(table).delete_after.value()),
      timer_(on_.loop),
      log_(settings, table) {}

void row_cleanup::close() {
    closed_ = true;
    counts_.is_known = false;
    timer_.cancel();
    if (cursor_) {
        cursor_->close();
    }
    if (cleaner_) {
        cleaner_->close();
    }
}

awaitable<void> row_cleanup::run() {
    const auto self = shared_from_this();
    while (!closed_) {
        auto options = servers::nats_options_of(settings_);
        auto name = cleanup_consumer_of(settings_, number_);
        cursor_ = std::make_shared<nats::cleanup_cursor>(std::move(options), std::move(name));
        auto walked = co_await walk(cursor_);
        cursor_->close();
        if (!closed_ && !walked) {
            co_await back_off(walked.error());
        }
    }
    log_.deletions().tell();
}

row_cleanup::outcome<> row_cleanup::walk(std::shared_ptr<nats::cleanup_cursor> cursor) {
    // Named, and the cursor kept alive by them: the thread may outlive whoever waits here.
    const auto open = [cursor]() -> awaitable<result<void>> { co_return cursor->open(); };
    const auto fetch = [cursor]() -> awaitable<result<batch>> { co_return cursor->next(); };
    auto opened = co_await asio::co_spawn(on_.blocking, open, asio::use_awaitable);
    if (!opened) {
        co_return opened;
    }
    if (auto recalled = co_await recall_rules(cursor); !recalled) {
        co_return recalled;
    }
    while (!closed_) {
        auto messages = co_await asio::co_spawn(on_.blocking, fetch, asio::use_awaitable);
        if (!messages) {
            co_return messages.error();
        }
        waited_ = 0ms;
        if (closed_) {
            break;
        }
        if (messages->empty()) {
            counts_.owes_nothing();
            log_.deletions().tell();
            cleaner_.reset();
            continue;
        }
        auto cleaned = co_await clean_batch(cursor, *messages);
        if (!cleaned) {
            co_return cleaned;
        }
    }
    co_return result<void>{};
}

row_cleanup::outcome<> row_cleanup::recall_rules(std::shared_ptr<nats::cleanup_cursor> cursor) {
    if (closed_) {
        co_return error{errc::postgres_lost, "the clean-up was ended"};
    }
    // Named, and all kept alive by it: the thread may outlive whoever waits here.
    const auto ask =
        [self = shared_from_this(), cursor,
         of = rules_question{number_, oid_, known_()}]() -> awaitable<result<row_rules>> {
        co_return tasks::recall_rules(*cursor, self->settings_, of);
    };
    auto recalled = co_await asio::co_spawn(on_.blocking, ask, asio::use_awaitable);
    if (!recalled) {
        co_return recalled.error();
    }
    rules_ = std::move(*recalled);
    co_return result<void>{};
}

row_cleanup::wall_clock::time_point row_cleanup::due(const nats::passed_message& message) const {
    return std::chrono::time_point_cast<wall_clock::duration>(message.stored) +
           std::max<std::chrono::milliseconds>(delete_after_, settings_.delivery.confirm_delay);
}

/// Rows that become due one after the other are taken together, a little late.
row_cleanup::outcome<> row_cleanup::clean_batch(std::shared_ptr<nats::cleanup_cursor> cursor,
                                                const batch& messages) {
    const auto grain = std::clamp<std::chrono::milliseconds>(delete_after_ / 10, 10ms, 10s);
    std::size_t first = 0;
    while (first < messages.size() && !closed_) {
        note_owed(messages[first]);
        auto latest = due(messages[first]);
        for (auto next = first; next < messages.size(); ++next) {
            latest = std::max(latest, due(messages[next]));
        }
        co_await wait_until(std::min(latest, due(messages[first]) + grain));
        const auto until = wall_clock::now();
        auto end = first;
        while (end < messages.size() && due(messages[end]) <= until) {
            ++end;
        }
        if (closed_ || end == first) {
            continue;
        }
        auto settled = co_await clean(messages, first, end);
        if (!settled) {
            co_return settled.error();
        }
        const auto settle = [cursor, done = std::move(*settled)]() -> awaitable<result<void>> {
            co_return cursor->settle(done);
        };
        auto moved = co_await asio::co_spawn(on_.blocking, settle, asio::use_awaitable);
        if (!moved) {
            co_return moved;
        }
        first = end;
        if (closed_) {
            break;
        }
        counts_.owes_nothing();
        co_await pause(breath);
    }
    co_return result<void>{};
}

/// By the wall clock, which may be set meanwhile.
awaitable<void> row_cleanup::wait_until(wall_clock::time_point when) {
    constexpr std::chrono::milliseconds longest = 1min;
    constexpr std::chrono::milliseconds long_enough_to_disconnect = 5s;
    for (auto now = wall_clock::now(); now < when && !closed_; now = wall_clock::now()) {
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(when - now);
        if (left > long_enough_to_disconnect) {
            log_.deletions().tell();
            cleaner_.reset();
        }
        co_await pause(std::min(left, longest));
    }
}

awaitable<void> row_cleanup::pause(std::chrono::milliseconds length) {
    if (!closed_) {
        timer_.expires_after(length);
        co_await timer_.async_wait(asio::as_tuple(asio::use_awaitable));
    }
}

row_cleanup::outcome<std::vector<nats::settlement>> row_cleanup::clean(const batch& messages,
                                                                       std::size_t first,
                                                                       std::size_t end) {
    for (;;) {
        auto judged = co_await judge(messages, first, end);
        if (!judged) {
            // Over the cursor, which does not come back: it is to be opened again.
            co_return judged.error();
        }
        auto tried = co_await try_to_clean(messages, first, *judged);
        if (tried || closed_) {
            goes_on();
            co_return tried;
        }
        cleaner_.reset();
        co_await back_off(tried.error());
    }
}

row_cleanup::outcome<> row_cleanup::open_cleaner() {
    if (cleaner_) {
        co_return result<void>{};
    }
    auto sql = co_await servers::open_for_outboxes(on_.loop, settings_);
    if (!sql) {
        co_return sql.error();
    }
    auto tables = servers::published_tables_of(settings_);
    auto made =
        co_await postgres::row_cleaner::begin(std::move(*sql), table(), oid_, std::move(tables));
    if (!made) {
        co_return made.error();
    }
    if (closed_) {
        co_return error{errc::postgres_lost, "the clean-up was ended"};
    }
    cleaner_.emplace(std::move(*made));
    co_return result<void>{};
}

row_cleanup::outcome<std::vector<nats::settlement>> row_cleanup::try_to_clean(
    const batch& messages, std::size_t first, const std::vector<judged_message>& judged) {
    auto opened = co_await open_cleaner();
    if (!opened) {
        co_return opened.error();
    }
    const auto end = first + judged.size();
    due_rows rows;
    std::vector<bool> kept(messages.size());
    for (auto index = first; index < end; ++index) {
        const auto& one = judged[index - first];
        kept[index] = one.what == provenance::not_yet;
        if (one.what == provenance::own) {
            const auto row = outbox::row_of_message(messages[index].id);
            rows.push_back({std::string(row.id), index, row.again});
        } else if (one.what == provenance::stranger) {
            log_.stranger(messages[index], one.why);
        } else if (one.what == provenance::of_other_rules) {
            log_.older(messages[index], rules_.since);
        }
    }
    auto told = co_await leave_dead_letters(rows);
    if (!told) {
        co_return told.error();
    }
    std::uint64_t deleted = 0;
    for (std::size_t which = 0; which < inverse_.alternatives().size(); ++which) {
        const auto cleaned = co_await clean_column(which, rows, kept);
        if (!cleaned) {
            co_return cleaned.error();
        }
        deleted += *cleaned;
    }
    std::vector<nats::settlement> settled;
    for (auto index = first; index < end; ++index) {
        settled.push_back({index, kept[index] ? again_after(messages[index]) : 0ms});
    }
    count(messages[end - 1], deleted);
    co_return settled;
}

row_cleanup::outcome<std::vector<judged_message>> row_cleanup::judge(const batch& messages,
                                                                     std::size_t first,
                                                                     std::size_t end) {
    const auto from = messages.begin() + static_cast<std::ptrdiff_t>(first);
    const auto to = messages.begin() + static_cast<std::ptrdiff_t>(end);
    // Named, with all that it reads its own: the thread may outlive whoever waits here.
    const auto ask = [cursor = cursor_, part = batch(from, to), known = known_(),
                      rules = rules_]() -> awaitable<result<std::vector<judged_message>>> {
        co_return tasks::judge(*cursor, part, known, rules);
    };
    co_return co_await asio::co_spawn(on_.blocking, ask, asio::use_awaitable);
}

/// The row of a dead letter was never published under its own id, whoever has used that.
row_cleanup::outcome<> row_cleanup::leave_dead_letters(due_rows& rows) {
    std::vector<std::string> ids;
    for (const auto& row : rows) {
        if (!row.again) {
            ids.push_back(row.id);
        }
    }
    const auto found = co_await cleaner_->dead_among(std::move(ids));
    if (!found) {
        co_return found.error();
    }
    const std::set<std::string_view> dead(found->begin(), found->end());
    std::erase_if(rows, [&](const due_row& row) { return !row.again && dead.contains(row.id); });
    co_return result<void>{};
}

/// Where there is a row that has the id as its text, the message may be that one's.
row_cleanup::outcome<> row_cleanup::leave_ambiguous(const postgres::rows_by_value& of,
                                                    encoded_rows& rows) {
    if (rows.empty()) {
        co_return result<void>{};
    }
    postgres::rows_by_value others{of.column, of.null_columns, {}};
    for (const auto& [unless, row] : rows) {
        others.values.push_back(unless);
    }
    const auto there = co_await cleaner_->there_among(std::move(others));
    if (!there) {
        co_return there.error();
    }
    for (const auto& each : *there) {
        rows.erase(each);
        log<"row_kept">("a row of " + to_string(table().table) + " has the id " + each +
                            ", which is the encoded form of another id as well: their messages "
                            "cannot be told apart, and no row of either id is deleted",
                        with<"table">(table().table), with<"id">(each));
    }
    co_return result<void>{};
}

row_cleanup::outcome<std::uint64_t> row_cleanup::clean_column(std::size_t which,
                                                              const due_rows& rows,
                                                              std::vector<bool>& kept) {
    const auto& columns = inverse_.alternatives();
    postgres::rows_by_value wanted{columns[which].column, {}, {}};
    for (std::size_t before = 0; before < which; ++before) {
        wanted.null_columns.push_back(columns[before].column);
    }
    std::multimap<std::string, std::size_t> messages_of;
    encoded_rows encoded;
    for (const auto& row : rows) {
        if (auto value = inverse_.value_of(row.id, which)) {
            messages_of.emplace(*value, row.message);
            wanted.values.push_back(std::move(*value));
        } else if (auto of_other = inverse_.encoded_value_of(row.id, which)) {
            encoded.emplace(std::move(of_other->unless),
                            std::pair(std::move(of_other->text), row.message));
        } else if (inverse_.is_of_another_type(row.id)) {
            // Looked at again: by then the new type of the column is known.
            kept[row.message] = true;
        }
    }
    auto certain = co_await leave_ambiguous(wanted, encoded);
    if (!certain) {
        co_return certain.error();
    }
    for (auto& [unless, row] : encoded) {
        messages_of.emplace(row.first, row.second);
        wanted.values.push_back(std::move(row.first));
    }
    const auto cleaned = co_await cleaner_->clean(std::move(wanted));
    if (!cleaned) {
        co_return cleaned.error();
    }
    if (!cleaned->why.empty()) {
        log<"rows_not_deletable">("rows of " + to_string(table().table) +
                                      " cannot be deleted; the server says of one: " + cleaned->why,
                                  with<"table">(table().table));
    }
    for (const auto& value : cleaned->kept) {
        const auto [from, to] = messages_of.equal_range(value);
        for (auto each = from; each != to; ++each) {
            kept[each->second] = true;
        }
    }
    co_return cleaned->deleted;
}

/// 0 once it has been looked at often enough: its row stays then.
std::chrono::milliseconds row_cleanup::again_after(const nats::passed_message& message) const {
    constexpr std::chrono::milliseconds shortest = 1s;
    constexpr std::chrono::milliseconds longest = std::chrono::hours(24);
    if (message.deliveries >= deliveries_max) {
        log<"row_kept">("the row of message " + message.id + " stays in " +
                            to_string(table().table) +
                            ": it is still pending, something refers to it, its position is not "
                            "confirmed, or its id is no value of the type that the column has now",
                        with<"table">(table().table), with<"id">(message.id));
        return 0ms;
    }
    const auto step = std::max(delete_after_ / 16, shortest);
    return std::min(step * (1U << (message.deliveries - 1)), longest);
}

void row_cleanup::note_owed(const nats::passed_message& message) {
    const auto now = std::chrono::time_point_cast<wall_time::duration>(wall_clock::now());
    const auto since = std::chrono::time_point_cast<wall_time::duration>(due(message));
    // One that was looked at before is not late: its row is to stay a while, or it was given back,
    // and then what was owed before is owed still.
    counts_.owes_since(message.deliveries > 1 ? std::max(since, now) : since);
}

void row_cleanup::count(const nats::passed_message& last, std::uint64_t deleted) {
    counts_.rows_deleted += deleted;
    log_.deletions().add(deleted, std::chrono::time_point_cast<wall_clock::duration>(last.stored));
}

void row_cleanup::goes_on() {
    waited_ = 0ms;
    log_.goes_on();
}

awaitable<void> row_cleanup::back_off(error why) {
    constexpr std::chrono::milliseconds shortest = 1s;
    constexpr std::chrono::milliseconds longest = 1min;
    counts_.failed(why);
    // Locks of others are usual, and pass.
    if (waited_ >= 2s || relay::operator_needed(why)) {
        log_.waits(why);
    }
    waited_ = std::clamp(waited_ * 2, shortest, longest);
    co_await pause(waited_);
}

}  // namespace walrelay::tasks
