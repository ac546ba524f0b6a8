#include "tasks/verify/verification.hpp"

#include "core/position.hpp"
#include "outbox/reading_order.hpp"
#include "postgres/catalog/inspector.hpp"
#include "postgres/tables/slot_start.hpp"
#include "postgres/tables/witness_store.hpp"
#include "relay/checkpoint/evidence.hpp"
#include "servers/postgres_access.hpp"
#include "servers/stream_loss.hpp"
#include "servers/translate.hpp"
#include "servers/unfinished_search.hpp"
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
      wheres_(settings.outbox.size(), options.where) {}

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
    if (auto read = read_first_messages(); !read) {
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
    verify_outcome done;
    done.report = std::move(*found);
    done.slot = slot_;
    done.removed_messages = removed_messages_;
    done.snapshot_end = snapshot_.end;
    done.halt = halt_;
    done.slot_not_read = slot_not_read_;
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
    if (excuses_removed() && options_.since_slot) {
        co_await look_at_witness();
    }
    if (auto made = make_readers(); !made) {
        co_return made.error();
    }
    co_return make_auditor();
}

/// Where all that the witness names is gone from the stream's beginning, rows that are not later
/// than it were in what is gone. Whoever may not look at it does without.
boost::asio::awaitable<void> verification::look_at_witness() {
    // Not within the snapshot, which an error would end, and not before it: no row is younger.
    auto other = co_await servers::open_sql(on_.loop, settings_);
    auto replication = co_await servers::open_replication(on_.loop, settings_);
    if (!other || !replication) {
        co_return;
    }
    const auto server = co_await postgres::identify(*replication);
    if (!server) {
        co_return;
    }
    auto slot = settings_.postgres.slot;
    const auto known = co_await postgres::read_witness(*other, std::move(slot),
                                                       server->line.origin.system_identifier);
    if (!known || !*known || (*known)->is_later.empty()) {
        co_return;
    }
    const auto& what = (*known)->what;
    const auto seen = co_await servers::evidence_for(on_, settings_, what, stream_->facts());
    const auto& facts = stream_->facts();
    const bool is_gone = facts.removed_count() + facts.counts_from > what.sequence;
    if (seen && is_gone && relay::judge_stream(what, *seen) == relay::stream_verdict::holds) {
        was_stored_ = "NOT (" + (*known)->is_later + ")";
    }
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
    for (std::size_t table = 0; table < wheres_.size(); ++table) {
        auto& where = wheres_[table];
        const auto expected = (*start)->is_expected(settings_.outbox[table].pending);
        where = where.empty() ? expected : "(" + where + ") AND (" + expected + ")";
    }
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
        auto order =
            outbox::reading_order_of(settings_.outbox[index], facts.columns, snapshot_.domains);
        const bool by_time = excuses_removed() && order && order->follows_time;
        orders_.push_back(by_time ? std::move(order->columns) : std::vector<std::string>());
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
    how.excuses_removed = excuses_removed();
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
    auto where = wheres_[number];
    auto order = orders_[number];
    auto judged = was_stored_;
    if (!order.empty()) {
        columns.push_back(order.front());
    }
    const auto opened =
        co_await postgres::open_cursor(*sql_, std::move(table), std::move(columns),
                                       std::move(where), std::move(order), std::move(judged));
    last_time_.reset();
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
    const auto id_columns = static_cast<std::ptrdiff_t>(readers_[number].columns().size());
    for (const auto& row : rows.rows()) {
        values.assign(row.begin(), row.begin() + id_columns);
        const auto age = age_of(number, row);
        const auto made = readers_[number].read(values, id);
        if (!made) {
            auditor_->add_row_without_id(number, made.error().what, age);
            continue;
        }
        if (auto added = auditor_->add_row(number, id, age); !added) {
            return added;
        }
    }
    return {};
}

audit::row_age verification::age_of(std::uint32_t number, const std::vector<postgres::cell>& row) {
    audit::row_age age;
    age.was_stored = !was_stored_.empty() && row.back() == "t";
    if (!orders_[number].empty()) {
        const auto& time = row[readers_[number].columns().size()];
        age.begins_a_time = !last_time_ || *last_time_ != time;
        last_time_ = time;
    }
    return age;
}

result<void> verification::read_first_messages() {
    std::optional<std::uint64_t> first;
    auto read = stream_->read([&](const nats::scanned_message& one) {
        first = first.value_or(one.sequence);
        return take(one);
    });
    if (!excuses_removed()) {
        return read;
    }
    // Limits go on removing until the first one is read.
    const auto begins = first.value_or(stream_->read_to() + 1);
    const auto counted_from = stream_->facts().counts_from;
    removed_messages_ =
        std::max(stream_->facts().removed_count(), begins - std::min(begins, counted_from));
    auditor_->expect_removed(removed_messages_);
    return read;
}

result<void> verification::read_messages() {
    return stream_->read([this](const nats::scanned_message& one) { return take(one); });
}

result<void> verification::take(const nats::scanned_message& one) {
    if (on_.given_up.stop_requested()) {
        return servers::search_given_up(settings_.nats.stream);
    }
    progress_.tell(auditor_->rows_read(), auditor_->messages_read());
    return auditor_->add_message({one.sequence, one.subject, one.id, one.position});
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
            const auto added = auditor_->add_dead_letter(
                servers::number_of(letter.source, settings_), letter.message_id);
            if (!added) {
                co_return added.error();
            }
        }
    }
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
    if (read && *read == 0) {
        co_return audit::finding_kind::missing;
    }
    if (!read) {
        slot_not_read_ = read.error();
    }
    // A halted slot is known to stand after rows that the stream lacks.
    co_return halt_ ? audit::finding_kind::missing : audit::finding_kind::undelivered;
}

verification::outcome<std::uint64_t> verification::read_slot() {
    postgres::kept_replay whole;
    whole.slot = settings_.postgres.slot;
    whole.kept_slot = settings_.postgres.slot;
    whole.until = std::min(snapshot_.end, slot_->flushed);
    std::uint64_t without_id = 0;
    if (whole.until <= slot_->confirmed) {
        co_return without_id;
    }
    auto past = co_await kept_stream::open(on_, settings_, *sql_, std::move(whole),
                                           relay::replayed_as::message);
    if (!past) {
        co_return past.error();
    }
    result<void> added;
    // Also those that cannot be published: the slot brings them, and they are set aside.
    const auto read = co_await read_to_the_end(**past, [&](const relay::replayed_row& row) {
        if (!added || !row.table) {
            return;
        }
        if (row.content->id.empty()) {
            ++without_id;
        } else {
            added = auditor_->add_awaited(row.content->id);
        }
    });
    if (!read || !added) {
        co_return read ? added.error() : read.error();
    }
    co_return without_id;
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
