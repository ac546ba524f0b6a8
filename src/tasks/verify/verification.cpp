#include "tasks/verify/verification.hpp"

#include "core/position.hpp"
#include "core/waiting_slot.hpp"
#include "postgres/catalog/inspector.hpp"
#include "postgres/tables/dead_letter_store.hpp"
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
      rows_(settings.outbox.size(), options.where) {}

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
    done_.report = std::move(*found);
    done_.replaced_messages =
        stream_->facts().replaces_messages() ? done_.report.deleted_messages : 0;
    done_.snapshot_end = snapshot_.end;
    const auto looked = co_await look_at_requests();
    if (!looked) {
        co_return looked.error();
    }
    co_return std::move(done_);
}

verification::outcome<> verification::look_at_requests() {
    auto retries = co_await look_at_retries(on_, settings_, *sql_, however_old);
    if (!retries) {
        co_return retries.error();
    }
    done_.lost_retries = std::move(retries->lost);
    auto replays = co_await look_at_open_replays(on_, settings_, *sql_);
    if (!replays) {
        co_return replays.error();
    }
    for (const auto& each : *replays) {
        if (!each.stored) {
            done_.unread_replays.push_back(each);
        } else if (each.lost > 0) {
            done_.lost_replays.push_back(each);
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
        done_.halt = *halt;
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
    if (auto prepared = rows_.prepare(settings_, snapshot_, excuses_removed()); !prepared) {
        co_return prepared.error();
    }
    co_return make_auditor();
}

/// Where all that the witness names is gone from the stream's beginning, or messages were replaced,
/// rows that are not later than it were in what is gone. Whoever may not look at it does without.
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
    if (seen && (is_gone || replaced_count() > 0) &&
        relay::judge_stream(what, *seen) == relay::stream_verdict::holds) {
        rows_.were_stored("NOT (" + (*known)->is_later + ")");
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
    for (std::uint32_t table = 0; table < settings_.outbox.size(); ++table) {
        rows_.narrow_to(table, (*start)->is_expected(settings_.outbox[table].pending));
    }
    since_ = before_slot((*start)->consistent_point);
    co_return result<void>{};
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
    for (std::uint32_t number = 0; number < rows_.table_count(); ++number) {
        const auto read = co_await read_table(number);
        if (!read) {
            co_return read.error();
        }
    }
    co_return co_await postgres::end_snapshot(*sql_);
}

verification::outcome<> verification::read_table(std::uint32_t number) {
    auto how = rows_.begin(number);
    const auto opened = co_await postgres::open_cursor(*sql_, std::move(how));
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
        if (auto added = rows_.add(*rows, *auditor_); !added) {
            co_return added.error();
        }
        progress_.tell(auditor_->rows_read(), auditor_->messages_read());
    }
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
    done_.removed_messages =
        std::max(stream_->facts().removed_count(), begins - std::min(begins, counted_from));
    auditor_->expect_removed(done_.removed_messages, stream_->facts().replaces_messages());
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
        done_.slot = *slot;
        if (auto read = read_messages(); !read) {
            co_return read.error();
        }
        const auto letters = co_await read_dead_letters();
        if (!letters) {
            co_return letters.error();
        }
        if (slot->waits) {
            if (auditor_->open_rows() > 0) {
                done_.slot_not_read =
                    waits_under_another_name(settings_.postgres.slot, *slot->waits);
            }
            co_return audit::finding_kind::undelivered;
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

/// Nobody streams, so that what the slot does not bring now, no relay will bring. Where one has
/// come meanwhile, what it was told of by then is in the stream, which was read before.
verification::outcome<audit::finding_kind> verification::settle_with_idle_slot() {
    const auto read = co_await read_slot();
    const auto slot = co_await postgres::read_slot_progress(*sql_, settings_.postgres.slot);
    if (!slot) {
        co_return slot.error();
    }
    const bool is_there = slot->exists && !slot->lost;
    if (is_there && (slot->active || slot->confirmed != done_.slot->confirmed)) {
        co_return audit::finding_kind::undelivered;
    }
    if (read) {
        co_return audit::finding_kind::missing;
    }
    done_.slot_not_read = read.error();
    // A halted slot is known to stand after rows that the stream lacks.
    co_return done_.halt ? audit::finding_kind::missing : audit::finding_kind::undelivered;
}

verification::outcome<> verification::read_slot() {
    postgres::kept_replay whole;
    whole.slot = settings_.postgres.slot;
    whole.kept_slot = settings_.postgres.slot;
    whole.until = std::min(snapshot_.end, done_.slot->flushed);
    if (whole.until <= done_.slot->confirmed) {
        co_return result<void>{};
    }
    // One that was set aside before the slot was told is there already, and counted.
    const auto set_aside = co_await postgres::dead_letters_after(*sql_, done_.slot->confirmed,
                                                                 settings_.postgres.slot);
    if (!set_aside) {
        co_return set_aside.error();
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
            if (std::ranges::find(*set_aside, row.where) == set_aside->end()) {
                auditor_->add_awaited_without_id(static_cast<std::uint32_t>(*row.table));
            }
        } else {
            added = auditor_->add_awaited(row.content->id);
        }
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
