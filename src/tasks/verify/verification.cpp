#include "tasks/verify/verification.hpp"

#include "core/position.hpp"
#include "postgres/catalog/inspector.hpp"
#include "postgres/tables/slot_start.hpp"
#include "servers/postgres_access.hpp"
#include "servers/translate.hpp"
#include "tasks/replay/kept_stream.hpp"
#include "tasks/retry_fates.hpp"
#include "tasks/temporary_place.hpp"

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <utility>

namespace walrelay::tasks {
namespace {

constexpr std::size_t rows_of_a_fetch = 5000;

error without_history(const std::string& stream) {
    return {errc::broker_unsuitable,
            "stream " + stream +
                " does not use limits retention: it forgets messages once they are consumed, so "
                "that there is nothing to compare the table with",
            "use a stream with limits retention for walrelay"};
}

error missing_table(const table_name& table) {
    return {errc::postgres_unsuitable, "table " + to_string(table) + " does not exist",
            "correct outbox.table in the configuration"};
}

error start_unknown(const std::string& slot) {
    return {errc::postgres_unsuitable,
            "what was in the tables before slot " + slot +
                " is not known: it was made by hand, or before walrelay kept that",
            "walrelay verify --where \"...\" with a condition on the rows since then"};
}

}  // namespace

verification::verification(servers::executors on, const config::settings& settings,
                           const verify_options& options)
    : on_(std::move(on)),
      settings_(settings),
      options_(options),
      progress_(options.progress),
      where_(options.where) {}

boost::asio::awaitable<result<verify_outcome>> verification::run() {
    if (auto opened = open_stream(); !opened) {
        co_return opened.error();
    }
    const auto begun = co_await begin();
    if (!begun) {
        co_return begun.error();
    }
    const auto rows = co_await read_rows();
    if (!rows) {
        co_return rows.error();
    }
    // After the rows, so that only those are missing that really were when they were read.
    if (auto read = read_messages(); !read) {
        co_return read.error();
    }
    co_await read_history();
    if (auto sifted = auditor_->sift(); !sifted) {
        co_return sifted.error();
    }
    const auto open_ones = co_await settle();
    if (!open_ones) {
        co_return open_ones.error();
    }
    auto found = auditor_->conclude(*open_ones);
    if (!found) {
        co_return found.error();
    }
    verify_outcome done{std::move(*found), slot_, snapshot_.end, {}, {}, {}, halt_, slot_not_read_};
    const auto looked = co_await look_at_requests(done);
    if (!looked) {
        co_return looked.error();
    }
    co_return done;
}

verification::outcome<> verification::look_at_requests(verify_outcome& done) {
    auto retries = co_await look_at_retries(on_, settings_, *sql_, however_old);
    if (!retries) {
        co_return retries.error();
    }
    done.lost_retries = std::move(retries->lost);
    auto replays = co_await look_at_open_replays(on_, settings_, *sql_);
    if (!replays) {
        co_return replays.error();
    }
    for (const auto& each : *replays) {
        if (!each.stored) {
            done.unread_replays.push_back(each);
        } else if (each.lost > 0) {
            done.lost_replays.push_back(each);
        }
    }
    co_return result<void>{};
}

// The blocking calls of the broker's side are made right here: nothing else waits for this thread.
result<void> verification::open_stream() {
    auto opened = nats::stream_scan::open(servers::nats_options_of(settings_));
    if (!opened) {
        return opened.error();
    }
    if (opened->facts().retention != stream_retention::limits) {
        return without_history(settings_.nats.stream);
    }
    stream_.emplace(std::move(*opened));
    return {};
}

verification::outcome<> verification::begin() {
    auto opened = co_await servers::open_sql(on_.loop, settings_);
    if (!opened) {
        co_return opened.error();
    }
    sql_.emplace(std::move(*opened));
    auto slot = settings_.postgres.slot;
    const auto halt = co_await postgres::read_halt(*sql_, std::move(slot));
    if (halt) {
        halt_ = *halt;
    }
    auto tables = servers::table_names_of(settings_);
    auto begun = co_await postgres::begin_snapshot(*sql_, std::move(tables));
    if (!begun) {
        co_return begun.error();
    }
    snapshot_ = std::move(*begun);
    snapshot_at_ = std::chrono::steady_clock::now();
    if (options_.since_slot) {
        const auto looked = co_await look_at_start();
        if (!looked) {
            co_return looked.error();
        }
    }
    if (auto made = make_readers(); !made) {
        co_return made.error();
    }
    co_return make_auditor();
}

verification::outcome<> verification::look_at_start() {
    auto slot = settings_.postgres.slot;
    const auto start = co_await postgres::read_slot_start(*sql_, std::move(slot));
    if (!start) {
        co_return start.error();
    }
    if (!*start) {
        co_return start_unknown(settings_.postgres.slot);
    }
    where_ = where_.empty() ? (*start)->is_later : "(" + where_ + ") AND " + (*start)->is_later;
    since_ = before_slot((*start)->consistent_point);
    co_return result<void>{};
}

result<void> verification::make_readers() {
    for (std::size_t index = 0; index < settings_.outbox.size(); ++index) {
        const auto& facts = snapshot_.tables[index];
        if (!facts.exists) {
            return missing_table(facts.table);
        }
        auto reader = outbox::message_id_reader::make(settings_.outbox[index], facts.columns,
                                                      snapshot_.domains);
        if (!reader) {
            return reader.error();
        }
        readers_.push_back(std::move(*reader));
    }
    return {};
}

result<void> verification::make_auditor() {
    auto folder = temporary_place();
    if (!folder) {
        return folder.error();
    }
    audit::audit_options how;
    how.folder = std::move(*folder);
    for (const auto& table : settings_.outbox) {
        how.tables.push_back(to_string(table.table));
    }
    how.expected_rows = snapshot_.expected_rows;
    how.expected_messages = stream_->facts().message_count;
    how.named_limit = options_.named_limit;
    how.others_write = !settings_.nats.sole_writer;
    how.some_rows = !options_.where.empty();
    how.since = since_;
    progress_.expect(how.expected_rows, how.expected_messages);
    auto made = audit::auditor::make(std::move(how));
    if (!made) {
        return made.error();
    }
    auditor_ = std::move(*made);
    return {};
}

verification::outcome<> verification::read_rows() {
    for (std::uint32_t number = 0; number < readers_.size(); ++number) {
        const auto read = co_await read_table(number);
        if (!read) {
            co_return read.error();
        }
    }
    co_return co_await postgres::end_snapshot(*sql_);
}

verification::outcome<> verification::read_table(std::uint32_t number) {
    auto table = settings_.outbox[number].table;
    auto columns = readers_[number].columns();
    auto where = where_;
    const auto opened = co_await postgres::open_cursor(*sql_, std::move(table), std::move(columns),
                                                       std::move(where));
    if (!opened) {
        co_return opened.error();
    }
    for (;;) {
        auto rows = co_await postgres::fetch_rows(*sql_, rows_of_a_fetch);
        if (!rows) {
            auto failure = rows.error();
            if (failure.code == errc::postgres_unsuitable && !options_.where.empty()) {
                // What only a value shows, such as a division by zero.
                failure.remedy = "correct --where \"" + options_.where + "\"";
            }
            co_return failure;
        }
        if (rows->empty()) {
            co_return result<void>{};
        }
        if (auto added = add_rows(number, *rows); !added) {
            co_return added.error();
        }
        progress_.tell(auditor_->rows_read(), auditor_->messages_read());
    }
}

result<void> verification::add_rows(std::uint32_t number, const postgres::row_set& rows) {
    std::vector<field> values;
    std::string id;
    for (const auto& row : rows.rows()) {
        values.assign(row.begin(), row.end());
        const auto made = readers_[number].read(values, id);
        if (!made) {
            auditor_->add_row_without_id(number, made.error().what);
            continue;
        }
        if (auto added = auditor_->add_row(number, id); !added) {
            return added;
        }
    }
    return {};
}

result<void> verification::read_messages() {
    return stream_->read([this](const nats::scanned_message& one) {
        progress_.tell(auditor_->rows_read(), auditor_->messages_read());
        return auditor_->add_message({one.sequence, one.subject, one.id, one.position});
    });
}

/// A role that may not replicate verifies without it; the report says so.
boost::asio::awaitable<void> verification::read_history() {
    auto replication = co_await servers::open_replication(on_.loop, settings_);
    if (!replication) {
        co_return;
    }
    auto now = co_await postgres::identify(*replication);
    if (now) {
        auditor_->set_history(std::move(now->line), now->wal_end);
    }
}

verification::outcome<> verification::read_dead_letters() {
    for (;;) {
        const auto letters = co_await postgres::read_dead_letters(
            *sql_, settings_.postgres.slot, last_dead_letter_, rows_of_a_fetch);
        if (!letters) {
            co_return letters.error();
        }
        if (letters->empty()) {
            co_return result<void>{};
        }
        for (const auto& letter : *letters) {
            const auto added =
                auditor_->add_dead_letter(number_of(letter.source), letter.message_id);
            if (!added) {
                co_return added.error();
            }
        }
    }
}

std::optional<std::uint32_t> verification::number_of(const table_name& table) const {
    const auto& outbox = settings_.outbox;
    const auto found = std::find_if(outbox.begin(), outbox.end(),
                                    [&](const auto& each) { return each.table == table; });
    return found == outbox.end()
               ? std::nullopt
               : std::optional(static_cast<std::uint32_t>(found - outbox.begin()));
}

verification::outcome<audit::finding_kind> verification::settle() {
    constexpr auto pause = std::chrono::milliseconds(250);
    // A relay that takes over, or has lost its connection, streams from the slot again within it:
    // one look at an idle slot does not show that nobody will.
    constexpr auto relay_connects_again = std::chrono::seconds(5);
    const auto deadline = std::chrono::steady_clock::now() + options_.wait;
    std::optional<std::chrono::steady_clock::time_point> idle_since;
    while (auditor_->open_rows() > 0) {
        // The slot first: what it has confirmed when it is looked at is in the stream that is read
        // afterwards, or in the dead letters.
        const auto slot = co_await postgres::read_slot_progress(*sql_, settings_.postgres.slot);
        if (!slot) {
            co_return slot.error();
        }
        slot_ = *slot;
        if (auto read = read_messages(); !read) {
            co_return read.error();
        }
        const auto letters = co_await read_dead_letters();
        if (!letters) {
            co_return letters.error();
        }
        if (!slot->exists || slot->lost || has_passed(*slot)) {
            break;
        }
        const auto now = std::chrono::steady_clock::now();
        const bool in_vain = now >= deadline;
        idle_since = slot->active ? std::nullopt : std::optional(idle_since.value_or(now));
        if (idle_since && !auditor_->seems_settled() &&
            (in_vain || now - *idle_since >= relay_connects_again)) {
            co_return co_await settle_with_idle_slot();
        }
        if (auditor_->seems_settled() || in_vain) {
            co_return audit::finding_kind::undelivered;
        }
        boost::asio::steady_timer timer(on_.loop, pause);
        co_await timer.async_wait(boost::asio::use_awaitable);
    }
    co_return audit::finding_kind::missing;
}

/// Nobody streams, so that what the slot does not bring now, no relay will bring.
verification::outcome<audit::finding_kind> verification::settle_with_idle_slot() {
    const auto read = co_await read_slot();
    if (read) {
        co_return audit::finding_kind::missing;
    }
    slot_not_read_ = read.error();
    // A halted slot is known to stand after rows that the stream lacks.
    co_return halt_ ? audit::finding_kind::missing : audit::finding_kind::undelivered;
}

verification::outcome<> verification::read_slot() {
    postgres::kept_replay whole;
    whole.slot = settings_.postgres.slot;
    whole.kept_slot = settings_.postgres.slot;
    whole.until = std::min(snapshot_.end, slot_->flushed);
    if (whole.until <= slot_->confirmed) {
        co_return result<void>{};
    }
    auto past = co_await kept_stream::open(on_, settings_, *sql_, std::move(whole),
                                           relay::replayed_as::message);
    if (!past) {
        co_return past.error();
    }
    result<void> added;
    const auto read = co_await read_to_the_end(**past, [&](const relay::replayed_row& row) {
        if (!added || !row.table) {
            return;
        }
        added =
            row.unmappable ? result<void>(*row.unmappable) : auditor_->add_awaited(row.content->id);
    });
    co_return read ? added : read;
}

bool verification::has_passed(const postgres::slot_progress& slot) const {
    // With synchronous_commit = off the WAL writer flushes a commit within three of its rounds of
    // 200 ms (PostgreSQL documentation, "Asynchronous Commit"). What is unflushed for longer holds
    // no commit, and the slot need not reach it.
    constexpr auto all_commits_are_flushed = std::chrono::seconds(2);
    const auto age = std::chrono::steady_clock::now() - snapshot_at_;
    return slot.confirmed >= snapshot_.end ||
           (slot.confirmed >= slot.flushed && slot.flushed > lsn{} &&
            age > all_commits_are_flushed);
}

}  // namespace walrelay::tasks
