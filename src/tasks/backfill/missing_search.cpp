#include "tasks/backfill/missing_search.hpp"

#include "core/first_revision.hpp"
#include "core/occasion.hpp"
#include "core/progress.hpp"
#include "log/log.hpp"
#include "nats/requests/stream_scan.hpp"
#include "postgres/tables/witness_store.hpp"
#include "relay/checkpoint/evidence.hpp"
#include "relay/lane/lane.hpp"
#include "servers/broker_side.hpp"
#include "servers/postgres_access.hpp"
#include "servers/stream_loss.hpp"
#include "servers/translate.hpp"
#include "servers/unfinished_search.hpp"
#include "tasks/temporary_place.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <utility>

namespace walrelay::tasks {
namespace {

namespace asio = boost::asio;
using asio::awaitable;

constexpr std::size_t ids_of_a_piece = 5000;

/// `older` says what the rows may be that are not to be published.
error no_order(const table_name& table, const std::string& older) {
    return {errc::postgres_unsuitable,
            "it cannot be told which rows of table " + to_string(table) + " are " + older +
                ", because it has neither a created_at column nor ids that count",
            "name the column that says when a row was written in outbox.columns, or the rows that "
            "are still to be sent in outbox.pending"};
}

error nothing_in_common(const std::string& stream, const std::string& older) {
    return {errc::postgres_unsuitable,
            "stream " + stream +
                " has no message of any row that is in the tables, so it cannot be told which rows "
                "it lacks and which are " +
                older,
            "if all rows are to be published: postgres.snapshot = \"all\" with a new stream "
            "(nats.stream); if only some: outbox.pending and postgres.snapshot = \"pending\""};
}

/// Which messages a stream still has.
class seen_messages {
public:
    /// In their order. `is_known`: the witness knows that the rows of all before it were stored.
    void add(std::uint64_t sequence, bool is_known) {
        first_ = first_.value_or(sequence);
        ++count_;
        ++behind_;
        if (is_known) {
            known_to_ = sequence;
            behind_ = 0;
        }
    }
    [[nodiscard]] const std::optional<std::uint64_t>& first() const { return first_; }
    /// How many of `begin` to `last` it has not.
    [[nodiscard]] std::uint64_t gone_since(std::uint64_t begin, std::uint64_t last) const {
        return last + 1 - begin - count_;
    }
    /// And of those behind the last known one.
    [[nodiscard]] std::uint64_t newly_gone_since(std::uint64_t begin, std::uint64_t last) const {
        return last - std::max(known_to_, begin - 1) - behind_;
    }

private:
    std::optional<std::uint64_t> first_;
    std::uint64_t count_ = 0;
    std::uint64_t known_to_ = 0;
    std::uint64_t behind_ = 0;
};

/// A limit for each subject has removed messages from between others.
error stored_or_not(const std::string& stream, const std::string& why) {
    return {errc::postgres_unsuitable,
            "stream " + stream +
                " removes messages that newer ones of their subject replace "
                "(max_msgs_per_subject), and it cannot be told which of the rows that it lacks "
                "were never published and which were, and were replaced since: " +
                why +
                "; nothing is published, because an old event would come after newer ones and "
                "replace them",
            "walrelay verify names the rows that are in no message: keep them; walrelay resume "
            "--give-up lets the relay go on behind them and keeps a list, and walrelay replay "
            "--ids then publishes those of them that consumers never got"};
}

}  // namespace

missing_search::missing_search(servers::executors on, const config::settings& settings,
                               preflight::backfill_reason reason)
    : on_(std::move(on)), settings_(settings), reason_(reason) {}

awaitable<result<void>> missing_search::run(postgres::connection& sql,
                                            const postgres::snapshot_facts& snapshot,
                                            lineage line) {
    line_ = std::move(line);
    const servers::unfinished_search search(on_.given_up, settings_.nats.stream);
    const auto started = co_await read_start(sql);
    if (!started) {
        co_return started.error();
    }
    const auto known = co_await read_witness();
    if (!known) {
        co_return known.error();
    }
    const auto looked = co_await look_for_holes();
    if (!looked) {
        co_return looked.error();
    }
    if (auto prepared = prepare(snapshot); !prepared) {
        co_return prepared.error();
    }
    for (std::uint32_t table = 0; table < readings_.size(); ++table) {
        const auto read = co_await read_ids(sql, table);
        if (!read) {
            co_return read.error();
        }
    }
    // Named, and the object kept alive by it: the thread may outlive whoever waits here.
    const auto scan = [self = shared_from_this()]() -> awaitable<result<void>> {
        co_return self->scan_stream();
    };
    const auto scanned = co_await asio::co_spawn(on_.blocking, scan, asio::use_awaitable);
    if (!scanned) {
        co_return scanned.error();
    }
    const auto letters = co_await read_dead_letters(sql);
    if (!letters) {
        co_return letters.error();
    }
    if (auto found = missing_->find(); !found) {
        co_return found.error();
    }
    if (has_new_holes_ && row_count() > 0) {
        co_return stored_or_not(
            settings_.nats.stream,
            "of " + counted(row_count(), "row") + " that it lacks, walrelay.witness does not know");
    }
    co_return excuse_what_is_older();
}

missing_search::outcome<> missing_search::read_start(postgres::connection& sql) {
    if (!heals()) {
        co_return result<void>{};
    }
    auto slot = settings_.postgres.slot;
    auto start = co_await postgres::read_slot_start(sql, std::move(slot));
    if (!start) {
        co_return start.error();
    }
    start_ = std::move(*start);
    co_return result<void>{};
}

/// On a connection of its own: what is refused would end the snapshot. A role that may not read it
/// goes without, as the relay does.
missing_search::outcome<> missing_search::read_witness() {
    if (!heals()) {
        co_return result<void>{};
    }
    auto sql = co_await servers::open_sql(on_.loop, settings_);
    if (!sql) {
        co_return sql.error();
    }
    auto slot = settings_.postgres.slot;
    auto known =
        co_await postgres::read_witness(*sql, std::move(slot), line_.origin.system_identifier);
    if (!known) {
        co_return known.error().code == errc::postgres_unsuitable ? result<void>{} : known.error();
    }
    if (*known) {
        known_ = std::move(**known);
    }
    co_return result<void>{};
}

missing_search::outcome<> missing_search::look_for_holes() {
    if (!heals()) {
        co_return result<void>{};
    }
    const auto facts = co_await servers::facts_of_broker(on_.blocking, settings_);
    if (!facts) {
        co_return facts.error();
    }
    const auto& stream = facts->stream;
    has_holes_ =
        stream && stream->replaces_messages() && stream->hole_count() + stream->removed_count() > 0;
    if (!has_holes_) {
        co_return result<void>{};
    }
    if (!known_ || known_->is_later.empty()) {
        co_return stored_or_not(settings_.nats.stream,
                                "walrelay.witness tells nothing of its rows");
    }
    const auto seen = co_await servers::evidence_for(on_, settings_, known_->what, *stream);
    if (!seen) {
        co_return seen.error();
    }
    // What it has lost since was stored as well.
    const bool holds = known_->what.sequence > 0 &&
                       relay::judge_stream(known_->what, *seen) == relay::stream_verdict::holds;
    co_return holds ? result<void>{}
                    : stored_or_not(settings_.nats.stream,
                                    "it does not have all that walrelay.witness has seen in it");
}

result<void> missing_search::require_same_stream(const stream_facts& facts,
                                                 asked_message asked) const {
    if (!known_) {
        return {};
    }
    auto seen = relay::evidence_of(facts, settings_.nats.stream);
    seen.asked = std::move(asked);
    const auto& what = known_->what;
    if (relay::judge_stream(what, seen) != relay::stream_verdict::another_stream) {
        return {};
    }
    return relay::stream_has_lost(what, seen, relay::stream_verdict::another_stream,
                                  settings_.postgres.slot);
}

result<void> missing_search::prepare(const postgres::snapshot_facts& snapshot) {
    for (std::size_t index = 0; index < settings_.outbox.size(); ++index) {
        if (auto added = add_reading(index, snapshot); !added) {
            return added;
        }
    }
    auto folder = temporary_place();
    if (!folder) {
        return folder.error();
    }
    audit::missing_rows_options how;
    how.folder = std::move(*folder);
    how.tables = settings_.outbox.size();
    how.expected_rows = snapshot.expected_rows;
    auto made = audit::missing_rows::make(std::move(how));
    if (!made) {
        return made.error();
    }
    missing_ = std::move(*made);
    return {};
}

result<void> missing_search::add_reading(std::size_t index,
                                         const postgres::snapshot_facts& snapshot) {
    const auto& facts = snapshot.tables[index];
    const auto& table = settings_.outbox[index];
    auto ids = outbox::message_id_reader::make(table, facts.columns, snapshot.domains);
    if (!ids) {
        return ids.error();
    }
    auto order = outbox::reading_order_of(table, facts.columns, snapshot.domains);
    if (!order) {
        return order.error();
    }
    std::vector<std::string> columns;
    columns.reserve(facts.columns.size());
    for (const auto& each : facts.columns) {
        columns.push_back(each.name);
    }
    relation description{facts.table.schema, facts.table.name, facts.columns,
                         first_revision::of_snapshots + index};
    readings_.push_back({postgres::scope_of(facts), std::move(*ids), std::move(*order),
                         std::move(description), std::move(columns), condition_of(index),
                         heals() ? table.pending : "", may_lack_write_backs(index)});
    return {};
}

/// What was written back can have been lost again by the broker, so that `pending` says nothing of
/// what the stream lacks.
std::string missing_search::condition_of(std::size_t table) const {
    if (heals()) {
        const auto expected =
            start_ ? start_->is_expected(settings_.outbox[table].pending) : std::string("true");
        return has_holes_ ? "(" + expected + ") AND (" + known_->is_later + ")"
               : start_   ? expected
                          : std::string();
    }
    const bool all = settings_.postgres.snapshot == config::snapshot_mode::all;
    return all ? "" : settings_.outbox[table].pending;
}

/// A relay that ended between ack and write-back left rows that are published and still pending.
/// Where the condition does not tell them from all others, healing would write back the whole
/// table. With a slot that still holds rows an update is given up that was to publish one again.
bool missing_search::may_lack_write_backs(std::size_t table) const {
    const auto& outbox = settings_.outbox[table];
    if (rest_ && outbox.republish) {
        return false;
    }
    return outbox.writes_back() && (!heals() || !outbox.pending.empty());
}

missing_search::outcome<> missing_search::read_ids(postgres::connection& sql, std::uint32_t table) {
    auto& reading = readings_[table];
    auto columns = reading.ids.columns();
    if (!reading.order.columns.empty()) {
        columns.push_back(reading.order.columns.front());
    }
    auto how = reading.of(std::move(columns));
    how.judged = reading.pending;
    const auto opened = co_await postgres::open_cursor(sql, std::move(how));
    last_time_.reset();
    if (!opened) {
        co_return opened.error();
    }
    for (;;) {
        const auto rows = co_await postgres::fetch_rows(sql, ids_of_a_piece);
        if (!rows) {
            co_return rows.error();
        }
        if (rows->empty()) {
            co_return result<void>{};
        }
        if (auto added = add_ids(table, *rows); !added) {
            co_return added.error();
        }
    }
}

result<void> missing_search::add_ids(std::uint32_t table, const postgres::row_set& rows) {
    auto& reading = readings_[table];
    const auto id_columns = reading.ids.columns().size();
    std::vector<field> values;
    std::string id;
    for (const auto& row : rows.rows()) {
        values.assign(row.begin(), row.begin() + static_cast<std::ptrdiff_t>(id_columns));
        audit::row_traits traits;
        traits.is_pending = reading.pending.empty() || row.back() == "t";
        if (!reading.order.columns.empty()) {
            const auto& time = row[id_columns];
            traits.begins_a_time = !last_time_ || *last_time_ != time;
            last_time_ = time;
        }
        if (!reading.ids.read(values, id)) {
            missing_->add_row_without_id(table, traits);
            continue;
        }
        was_met(id);
        if (auto added = missing_->add_row(table, id, traits); !added) {
            return added;
        }
    }
    return {};
}

void missing_search::was_met(std::string_view id) {
    if (rest_) {
        for_each_row_id(id, [this](std::string_view row) { rest_->found(row); });
    }
}

result<void> missing_search::scan_stream() {
    auto stream = nats::stream_scan::open(servers::nats_options_of(settings_));
    if (!stream) {
        return stream.error();
    }
    removed_messages_ = stream->facts().removed_count();
    const auto counted_from = stream->facts().counts_from;
    const auto last_sequence = stream->facts().last_sequence;
    const auto looked_at =
        relay::look_back_over(servers::relay_options_of(settings_).lane.window_messages);
    seen_messages seen;
    asked_message asked{known_ ? known_->what.sequence : 0};
    auto read = stream->read([&](const nats::scanned_message& one) -> result<void> {
        if (given_up_ || on_.given_up.stop_requested()) {
            return servers::search_given_up(settings_.nats.stream);
        }
        const auto where = parse_position(one.position);
        seen.add(one.sequence, where && line_.shares(*where) && is_known(where->at));
        if (one.sequence == asked.sequence) {
            asked.where = where;
            asked.id = one.id;
        }
        if (where && line_.has_left(*where)) {
            return {};
        }
        const bool is_looked_at = one.sequence + looked_at > last_sequence;
        if (where && is_looked_at && settings_.nats.sole_writer && line_.shares(*where) &&
            (!last_ || last_->at < where->at)) {
            last_ = last_message{where->at, one.sequence};
        }
        was_met(one.id);
        return missing_->add_message(one.id);
    });
    stream_sequence_ = stream->read_to();
    // Limits go on removing until the first one is read.
    const auto first = seen.first().value_or(stream_sequence_ + 1);
    removed_messages_ = std::max(removed_messages_, first - std::min(first, counted_from));
    if (!read) {
        return read;
    }
    if (stream->facts().replaces_messages()) {
        const auto begin = std::max<std::uint64_t>(std::min(first, counted_from), 1);
        const auto ended = end_scan(seen.gone_since(begin, stream_sequence_),
                                    seen.newly_gone_since(begin, stream_sequence_));
        if (!ended) {
            return ended;
        }
    }
    return require_same_stream(stream->facts(), std::move(asked));
}

/// Of a row that the witness knows: it is not read from its table where there are holes.
bool missing_search::is_known(const commit_position& at) const {
    // Beside other writers messages are not in the order of their rows.
    return known_ && settings_.nats.sole_writer && !is_of_a_snapshot(at) &&
           at.commit < known_->later_than;
}

/// Messages can be removed while the stream is read.
result<void> missing_search::end_scan(std::uint64_t gone, std::uint64_t newly_gone) {
    if (!heals() || gone == 0) {
        return {};
    }
    if (!has_holes_) {
        return error{errc::broker_unavailable,
                     "messages of stream " + settings_.nats.stream +
                         " were removed while it was compared with the tables; it is compared "
                         "again"};
    }
    has_new_holes_ = newly_gone > 0;
    return {};
}

missing_search::outcome<> missing_search::read_dead_letters(postgres::connection& sql) {
    std::string last;
    for (;;) {
        const auto letters = co_await postgres::read_dead_letters(sql, settings_.postgres.slot,
                                                                  last, ids_of_a_piece);
        if (!letters) {
            co_return letters.error();
        }
        if (letters->empty()) {
            co_return result<void>{};
        }
        for (const auto& letter : *letters) {
            const auto table = servers::number_of(letter.source, settings_);
            if (!table) {
                continue;
            }
            if (rest_) {
                for_each_row_id(letter.message_id,
                                [this](std::string_view row) { rest_->has_letter(row); });
            }
            if (auto added = missing_->add_dead_letter(*table, letter.message_id); !added) {
                co_return added.error();
            }
        }
    }
}

/// Which rows were there before the slot, walrelay.slot_start tells. Where it does not, those that
/// are older than the first one that the stream holds are older than walrelay's first run. What
/// limits have removed from the stream's beginning was older, too.
result<void> missing_search::excuse_what_is_older() {
    // Of a stream of states only rows were read that come after all that is known to be stored.
    if (!heals() || has_holes_ || (start_ && removed_messages_ == 0)) {
        return {};
    }
    const std::string older =
        start_ ? "gone from its beginning by its limits" : "older than walrelay's first run";
    // One that was removed was of one row, whichever table that is of.
    auto removed = removed_messages_;
    bool any_known = false;
    for (std::uint32_t table = 0; table < readings_.size(); ++table) {
        any_known = any_known || is_held(table);
    }
    for (std::uint32_t table = 0; table < readings_.size(); ++table) {
        const auto lacking = missing_->missing_count(table);
        const auto still = has_status(table) ? missing_->pending_count(table) : 0;
        if (lacking == still) {
            continue;
        }
        const auto& name = settings_.outbox[table].table;
        if (!readings_[table].order.follows_time) {
            return no_order(name, older);
        }
        if (!any_known) {
            return nothing_in_common(settings_.nats.stream, older);
        }
        removed -= std::min(removed, excuse(table, removed));
    }
    return {};
}

/// Where statuses are written back, a row that is still pending was never published.
bool missing_search::has_status(std::uint32_t table) const {
    const auto& outbox = settings_.outbox[table];
    return !outbox.pending.empty() && !outbox.on_published.empty();
}

bool missing_search::is_held(std::uint32_t table) const {
    return (start_ ? missing_->first_stored(table) : missing_->first_held(table)).has_value();
}

/// How many rows.
std::uint64_t missing_search::excuse(std::uint32_t table, std::uint64_t removed) {
    const auto& name = settings_.outbox[table].table;
    audit::excuse which;
    which.but_pending = has_status(table);
    which.at_most = start_ ? removed : which.at_most;
    which.by_messages = start_.has_value();
    const bool has_some = is_held(table);
    const auto excused = missing_->excuse_older(table, which);
    if (excused == 0) {
        return 0;
    }
    const auto compared =
        has_some
            ? "older than the first of its rows that stream " + settings_.nats.stream + " holds"
            : "of a table of which stream " + settings_.nats.stream + " holds no row";
    const auto why = start_ ? "its limits have removed " + counted(removed_messages_, "message") +
                                  " from its beginning"
                            : std::string(
                                  "walrelay.slot_start does not tell which rows were there "
                                  "before the slot, so they count as older than it");
    log<"older_rows_left_out">(
        counted(excused, "row") + " of " + to_string(name) + " that the stream lacks " +
            (excused == 1 ? "is" : "are") + " not published: " + compared + ", and " + why +
            ". walrelay verify names them, walrelay replay --ids publishes them",
        with<"stream">(settings_.nats.stream), with<"table">(name), with<"rows">(excused));
    return excused;
}

std::uint64_t missing_search::row_count() const {
    std::uint64_t total = 0;
    for (std::uint32_t table = 0; table < readings_.size(); ++table) {
        total += missing_->missing_count(table);
    }
    return total;
}

}  // namespace walrelay::tasks
