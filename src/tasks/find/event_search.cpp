#include "tasks/find/event_search.hpp"

#include "core/position.hpp"
#include "core/sql_text.hpp"
#include "postgres/catalog/inspector.hpp"
#include "postgres/tables/event_letters.hpp"
#include "postgres/tables/halt_store.hpp"
#include "postgres/tables/outbox_snapshot.hpp"
#include "postgres/tables/time_text.hpp"
#include "postgres/tables/witness_store.hpp"
#include "relay/intake/control_row.hpp"
#include "servers/postgres_access.hpp"
#include "servers/translate.hpp"
#include "tasks/find/aggregate_subject.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <map>
#include <set>
#include <utility>

namespace walrelay::tasks {
namespace {

using boost::asio::awaitable;
using namespace std::chrono_literals;

/// How far the clocks of a writer, of PostgreSQL and of the broker may be apart.
constexpr auto clocks_differ_by = 5min;

error no_message(std::uint64_t sequence, const std::string& stream) {
    return {errc::configuration_invalid,
            "stream " + stream + " has no message of sequence " + std::to_string(sequence) +
                ", or that has no Nats-Msg-Id",
            "nats stream info " + stream + " names the first and the last sequence"};
}

error no_aggregate(const std::string& text) {
    return {errc::configuration_invalid, "--aggregate " + text + " is not TYPE/ID",
            "write the aggregate's type, a slash and its id"};
}

error no_table() {
    return {errc::configuration_invalid, "no outbox of the configuration is a table",
            "an event of logical messages is found by its id alone"};
}

/// It is what a row cannot have: of another type, or of a column that is not there.
bool says_there_is_none(const error& why) {
    return why.code == errc::configuration_invalid;
}

}  // namespace

awaitable<result<found_events>> event_search::run() {
    if (auto opened = open_stream(); !opened) {
        co_return opened.error();
    }
    auto done = begin_with_the_message();
    if (done) {
        done = co_await open_tables();
    }
    if (done && !options_.aggregate.empty()) {
        done = co_await begin_with_the_aggregate();
    }
    for (auto each = found_.events.begin(); done && each != found_.events.end(); ++each) {
        done = co_await find_rows(*each);
    }
    if (done) {
        done = co_await look_at_slot();
    }
    // After the slot: what that has passed was set aside before.
    for (auto each = found_.events.begin(); done && each != found_.events.end(); ++each) {
        done = co_await find_letters(*each);
    }
    if (done) {
        done = co_await choose_where_to_look();
    }
    // After the slot: what that has passed is in the stream.
    if (done) {
        done = read_messages();
    }
    if (!done) {
        co_return done.error();
    }
    for (auto& each : found_.events) {
        std::ranges::sort(each.messages, {}, &traced_message::sequence);
        each.what = judge(each, found_.around);
    }
    co_return std::move(found_);
}

// The blocking calls of the broker's side are made right here: nothing else waits for this thread.
result<void> event_search::open_stream() {
    auto opened = nats::stream_scan::open(servers::nats_options_of(settings_));
    if (!opened) {
        return opened.error();
    }
    stream_.emplace(std::move(*opened));
    auto& around = found_.around;
    around.stream = settings_.nats.stream;
    around.slot = settings_.postgres.slot;
    around.first_sequence = stream_->facts().first_sequence;
    around.last_sequence = stream_->facts().last_sequence;
    around.consumer = options_.consumer;
    if (!options_.consumer.empty()) {
        auto place = stream_->place_of(options_.consumer);
        if (!place) {
            return place.error();
        }
        around.place = std::move(*place);
    }
    return {};
}

/// Of an id that is given there is no more to find out.
result<void> event_search::begin_with_the_message() {
    if (!options_.sequence) {
        if (options_.aggregate.empty()) {
            found_.events.push_back({std::string(first_id_of(options_.id))});
        }
        return {};
    }
    auto message = stream_->message_of(*options_.sequence);
    if (!message) {
        return message.error();
    }
    if (!*message || (*message)->id.empty()) {
        return no_message(*options_.sequence, settings_.nats.stream);
    }
    found_.events.push_back({std::string(first_id_of((*message)->id))});
    seen_subjects_.push_back((*message)->subject);
    return {};
}

event_search::outcome<> event_search::open_tables() {
    auto opened = co_await servers::open_sql(on_.loop, settings_);
    if (!opened) {
        co_return opened.error();
    }
    sql_.emplace(std::move(*opened));
    for (const auto& each : settings_.outbox) {
        if (each.is_tableless()) {
            continue;
        }
        auto table = each.table;
        auto rows = co_await table_rows::open(settings_, *sql_, std::move(table));
        if (!rows) {
            co_return rows.error();
        }
        tables_.push_back(std::move(*rows));
    }
    co_return co_await read_conditions();
}

/// A role that may not replicate, or not read the witness, finds without it.
event_search::outcome<> event_search::read_conditions() {
    auto slot = settings_.postgres.slot;
    auto start = co_await postgres::read_slot_start(*sql_, slot);
    if (start) {
        start_ = std::move(*start);
    }
    auto replication = co_await servers::open_replication(on_.loop, settings_);
    if (!replication) {
        co_return result<void>{};
    }
    const auto server = co_await postgres::identify(*replication);
    if (!server) {
        co_return result<void>{};
    }
    line_ = server->line;
    const auto known = co_await postgres::read_witness(*sql_, std::move(slot),
                                                       server->line.origin.system_identifier);
    if (known && *known) {
        after_witness_ = (*known)->is_later;
    }
    co_return result<void>{};
}

event_search::outcome<> event_search::begin_with_the_aggregate() {
    const auto slash = options_.aggregate.find('/');
    if (slash == std::string::npos) {
        co_return no_aggregate(options_.aggregate);
    }
    if (tables_.empty()) {
        co_return no_table();
    }
    const auto type = options_.aggregate.substr(0, slash);
    const auto aggregate = options_.aggregate.substr(slash + 1);
    for (const auto& in : tables_) {
        const auto table =
            std::ranges::find(settings_.outbox, in->shape().table, &outbox_table::table);
        const auto condition =
            quote_identifier(table->columns.aggregate_type.value_or("aggregate_type")) + " = " +
            quote_literal(type) + " AND " +
            quote_identifier(table->columns.aggregate_id.value_or("aggregate_id")) + " = " +
            quote_literal(aggregate);
        auto shape = in->shape();
        const auto ids = co_await postgres::ids_of_rows(*sql_, std::move(shape), condition);
        if (!ids && !says_there_is_none(ids.error())) {
            co_return ids.error();
        }
        const auto count = ids ? ids->size() : 0;
        for (auto place = count - std::min(count, options_.limit); place < count; ++place) {
            found_.events.push_back({(*ids)[place]});
        }
    }
    if (found_.events.empty()) {
        co_return co_await begin_with_its_subjects(type, aggregate);
    }
    co_return result<void>{};
}

/// Its rows are gone: its messages are known where its subjects are of it alone.
event_search::outcome<> event_search::begin_with_its_subjects(const std::string& type,
                                                              const std::string& id) {
    for (const auto& table : settings_.outbox) {
        if (auto subject = subject_of_aggregate(table, type, id); !subject.empty()) {
            seen_subjects_.push_back(std::move(subject));
        }
    }
    if (seen_subjects_.empty()) {
        co_return result<void>{};
    }
    found_.around.is_told_by_subject = true;
    found_.around.subjects = seen_subjects_;
    const auto begun = co_await choose_where_to_begin();
    if (!begun) {
        co_return begun;
    }
    for (const auto& subject : seen_subjects_) {
        const auto read = begin_with_messages_of(subject);
        if (!read) {
            co_return read;
        }
    }
    co_return result<void>{};
}

result<void> event_search::begin_with_messages_of(const std::string& subject) {
    std::map<std::string, std::uint64_t> ids;
    stream_->read_only(subject);
    stream_->begin_at(std::max<std::uint64_t>(found_.around.looked_from, 1));
    auto read = stream_->read([&](const nats::scanned_message& one) -> result<void> {
        if (!one.id.empty()) {
            ids[std::string(first_id_of(one.id))] = one.sequence;
        }
        return {};
    });
    if (!read) {
        return read;
    }
    std::vector<std::pair<std::uint64_t, std::string>> newest;
    newest.reserve(ids.size());
    for (const auto& [id, sequence] : ids) {
        newest.emplace_back(sequence, id);
    }
    std::ranges::sort(newest);
    for (auto place = newest.size() - std::min(newest.size(), options_.limit);
         place < newest.size(); ++place) {
        found_.events.push_back({newest[place].second});
    }
    return {};
}

event_search::outcome<> event_search::find_rows(event_trace& of) {
    const auto id = of.id;
    for (const auto& in : tables_) {
        for (const auto& condition : in->conditions_of(id)) {
            const auto before = of.rows.size();
            const auto found = co_await find_row(*in, condition, of);
            if (!found && !says_there_is_none(found.error())) {
                co_return found;
            }
            if (of.rows.size() > before) {
                break;
            }
        }
    }
    // A row was named by its id: its message may have another one.
    if (of.rows.size() == 1 && !of.rows.front().message_id.empty()) {
        of.id = of.rows.front().message_id;
    }
    co_return result<void>{};
}

event_search::outcome<> event_search::find_row(table_rows& in, const std::string& condition,
                                               event_trace& of) {
    auto shape = in.shape();
    auto ids = co_await postgres::ids_of_rows(*sql_, std::move(shape), condition);
    if (!ids || ids->empty()) {
        co_return ids ? result<void>() : result<void>(ids.error());
    }
    std::vector<traced_row> rows;
    auto wanted = *ids;
    const auto take = [&](const relay::replayed_row& row) {
        rows.push_back({.table = row.source, .id = {}});
        if (row.unmappable) {
            rows.back().unmappable = row.unmappable->what;
            return;
        }
        rows.back().message_id = row.content->id;
        rows.back().subject = row.content->subject;
    };
    const auto read = co_await in.read(*sql_, std::move(wanted), take);
    if (!read) {
        co_return read;
    }
    for (std::size_t place = 0; place < std::min(rows.size(), ids->size()); ++place) {
        rows[place].id = (*ids)[place];
        const auto told = co_await tell_of_row(in, rows[place]);
        if (!told) {
            co_return told;
        }
        of.rows.push_back(std::move(rows[place]));
    }
    co_return result<void>{};
}

/// What is no part of its message.
event_search::outcome<> event_search::tell_of_row(table_rows& in, traced_row& row) {
    auto shape = in.shape();
    shape.columns = {"xmin"};
    if (!shape.time_column.empty()) {
        shape.columns.push_back(shape.time_column);
    }
    const auto has_time = shape.columns.size() > 1;
    std::vector<std::string> which{row.id};
    const auto told = co_await postgres::rows_of_ids(*sql_, std::move(shape), std::move(which));
    if (!told || told->empty()) {
        co_return told ? result<void>() : result<void>(told.error());
    }
    row.transaction = told->text(0, 0);
    row.created_at = has_time ? told->text(0, 1) : "";
    const auto of = std::ranges::find(settings_.outbox, row.table, &outbox_table::table);
    const bool is_known = start_ && of != settings_.outbox.end();
    const auto expected = is_known ? start_->is_expected(of->pending) : std::string();
    row.is_of_the_slot = co_await is_true_of(in, row, expected);
    row.is_after_witness = co_await is_true_of(in, row, after_witness_);
    co_return result<void>{};
}

boost::asio::awaitable<std::optional<bool>> event_search::is_true_of(table_rows& in,
                                                                     const traced_row& row,
                                                                     const std::string& what) {
    if (what.empty()) {
        co_return std::nullopt;
    }
    auto of = in.shape();
    const auto condition =
        quote_identifier(of.id_column) + " = " + quote_literal(row.id) + " AND (" + what + ")";
    const auto found = co_await postgres::ids_of_rows(*sql_, std::move(of), condition);
    co_return found ? std::optional(!found->empty()) : std::nullopt;
}

event_search::outcome<> event_search::find_letters(event_trace& of) {
    auto id = of.id;
    const auto rows =
        co_await postgres::letters_of_event(*sql_, settings_.postgres.slot, std::move(id));
    if (!rows) {
        co_return rows.error();
    }
    for (std::size_t row = 0; row < rows->size(); ++row) {
        std::int64_t number = 0;
        const auto text = rows->text(row, 0);
        std::from_chars(text.data(), text.data() + text.size(), number);
        of.letters.push_back({number, rows->text(row, 1), rows->text(row, 2), rows->text(row, 3),
                              rows->text(row, 4), rows->flag(row, 5), rows->text(row, 6),
                              rows->text(row, 7)});
    }
    co_return result<void>{};
}

event_search::outcome<> event_search::look_at_slot() {
    const auto slot = co_await postgres::read_slot_progress(*sql_, settings_.postgres.slot);
    if (!slot) {
        co_return slot.error();
    }
    auto& around = found_.around;
    around.slot_exists = slot->exists && !slot->lost;
    around.slot_waits = slot->waits;
    around.slot_active = slot->active;
    around.confirmed = slot->confirmed;
    around.wal_end = slot->flushed;
    const auto halt = co_await postgres::read_halt(*sql_, settings_.postgres.slot);
    if (halt && *halt) {
        around.halted = (*halt)->reason;
    }
    co_return result<void>{};
}

/// Nothing where an event tells no time: then its messages can be anywhere.
event_search::outcome<std::optional<wall_time>> event_search::earliest_time() {
    if (!options_.since.empty()) {
        const auto since = co_await postgres::read_time(*sql_, options_.since);
        if (!since) {
            co_return since.error();
        }
        co_return std::optional(*since);
    }
    std::optional<wall_time> earliest;
    for (const auto& each : found_.events) {
        const auto of_event = co_await earliest_time_of(each);
        if (!of_event || !*of_event) {
            co_return of_event;
        }
        earliest = earliest ? std::min(*earliest, **of_event) : *of_event;
    }
    co_return earliest;
}

event_search::outcome<std::optional<wall_time>> event_search::earliest_time_of(
    const event_trace& one) {
    std::vector<std::string> times;
    times.reserve(one.rows.size() + one.letters.size());
    for (const auto& row : one.rows) {
        times.push_back(row.created_at);
    }
    if (one.rows.empty() && seen_subjects_.empty()) {
        for (const auto& letter : one.letters) {
            times.push_back(letter.is_of_the_first ? letter.committed_at : "");
        }
    }
    std::optional<wall_time> earliest;
    for (const auto& text : times) {
        const auto time = co_await postgres::read_time(*sql_, text);
        if (!time) {
            co_return std::optional<wall_time>();
        }
        earliest = earliest ? std::min(*earliest, *time) : *time;
    }
    // Of a message in hand all of its subject is read, which also has what was stored before.
    if (times.empty() && seen_subjects_.empty()) {
        earliest = time_in_id(one.id);
    }
    co_return earliest ? std::optional(*earliest - clocks_differ_by) : earliest;
}

event_search::outcome<> event_search::choose_where_to_look() {
    if (found_.events.empty()) {
        co_return result<void>{};
    }
    const auto begun = co_await choose_where_to_begin();
    if (begun) {
        choose_subjects(co_await postgres::subjects_of_replays(*sql_, settings_.postgres.slot));
    }
    co_return begun;
}

event_search::outcome<> event_search::choose_where_to_begin() {
    auto& around = found_.around;
    around.looked_from = around.first_sequence;
    const auto since = co_await earliest_time();
    if (!since) {
        co_return since.error();
    }
    if (*since) {
        const auto first = stream_->first_since(**since);
        if (!first) {
            co_return first.error();
        }
        around.looked_from = *first;
    }
    co_return result<void>{};
}

/// None where an event tells none.
void event_search::choose_subjects(const std::vector<std::string>& of_replays) {
    std::set<std::string> subjects(seen_subjects_.begin(), seen_subjects_.end());
    for (const auto& each : found_.events) {
        bool is_told = !seen_subjects_.empty();
        for (const auto& row : each.rows) {
            is_told = true;
            subjects.insert(row.subject);
        }
        for (const auto& letter : each.letters) {
            is_told = is_told || !letter.subject.empty();
            subjects.insert(letter.subject);
        }
        if (!is_told) {
            return;
        }
    }
    subjects.erase("");
    // A replay can have put it beside the consumers of the others.
    const auto first_ones = std::vector<std::string>(subjects.begin(), subjects.end());
    for (const auto& subject : first_ones) {
        for (const auto& pattern : of_replays) {
            auto elsewhere = relay::replayed_subject(pattern, subject);
            // Of a subject with wildcards there may be none.
            if (elsewhere.find('>') >= elsewhere.size() - 1) {
                subjects.insert(std::move(elsewhere));
            }
        }
    }
    found_.around.subjects.assign(subjects.begin(), subjects.end());
}

bool event_search::all_are_found() const {
    return std::ranges::all_of(found_.events, [](const event_trace& each) {
        return is_told_by_letter(each) ||
               !std::ranges::all_of(each.messages, &traced_message::of_left_branch);
    });
}

/// First where messages should be by subject and time, which only finds. Under another
/// configuration the subject was another one, and the clock that made a row's time may be ahead of
/// the broker's: what is not found there is looked for among all messages.
result<void> event_search::read_messages() {
    auto& around = found_.around;
    if (found_.events.empty()) {
        return {};
    }
    for (const auto& subject : std::vector<std::string>(around.subjects)) {
        if (auto read = read_messages_of(subject, around.looked_from); !read) {
            return read;
        }
    }
    if (!around.subjects.empty() && all_are_found()) {
        return {};
    }
    around.subjects.clear();
    for (auto& each : found_.events) {
        each.messages.clear();
    }
    return read_all_messages();
}

/// Those since the time that is told, and then what came before them if they are not enough.
result<void> event_search::read_all_messages() {
    auto& around = found_.around;
    read_count_ = 0;
    auto read = read_messages_of(">", around.looked_from);
    const bool is_enough = !options_.since.empty() || all_are_found();
    if (read && !is_enough && around.looked_at_a_part()) {
        read = read_messages_of(">", around.first_sequence, around.looked_from);
        around.looked_from = around.first_sequence;
    }
    if (read && !around.looked_at_a_part()) {
        // Limits went on removing until the first one was read.
        const auto numbers = around.last_sequence + 1 - stream_->facts().counts_from;
        around.gone_messages = numbers - std::min(numbers, read_count_);
    }
    return read;
}

result<void> event_search::read_messages_of(const std::string& subject, std::uint64_t from,
                                            std::optional<std::uint64_t> end) {
    auto& around = found_.around;
    const auto begin = std::max<std::uint64_t>(from, 1);
    stream_->read_only(subject);
    if (end) {
        stream_->read_between(begin, *end);
    } else {
        stream_->begin_at(begin);
    }
    progress_.begin(subject, begin, end ? *end - 1 : around.last_sequence);
    auto read = stream_->read([this](const nats::scanned_message& one) -> result<void> {
        ++read_count_;
        progress_.tell(one.sequence);
        const auto id = first_id_of(one.id);
        const auto where = parse_position(one.position);
        const bool is_left = where && line_ && line_->has_left(*where);
        for (auto& each : found_.events) {
            // Anybody who may publish can use the id, as often as he likes.
            if (each.id == id && each.messages.size() < messages_kept) {
                each.messages.push_back({one.sequence, one.stored, std::string(one.subject),
                                         std::string(one.id), std::string(one.position), is_left});
            }
        }
        return {};
    });
    progress_.end();
    around.last_sequence = std::max(around.last_sequence, stream_->read_to());
    return read;
}

}  // namespace walrelay::tasks
