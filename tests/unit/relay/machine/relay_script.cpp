#include "unit/relay/machine/relay_script.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>
#include <variant>

namespace walrelay::test {
namespace {

constexpr std::uint32_t table_oid = 16384;
const outbox_table outbox{
    .table = {"public", "outbox"}, .subject = "events.{kind}", .body = body_format::payload};

std::vector<outbox::table_mapper> mappers() {
    std::vector<outbox::table_mapper> all;
    all.push_back(outbox::table_mapper::make(outbox).value());
    return all;
}

relay::relay_options completed(relay::relay_options options) {
    options.slot = "slot";
    options.stream = "S";
    return options;
}

relay::relay_options options_with(relay::lane_options window) {
    relay::relay_options options;
    options.lane = window;
    return options;
}

postgres_facts facts(const std::string& control_secret) {
    postgres_facts known;
    known.control_secret = control_secret;
    known.tables.resize(1);
    known.tables[0].table = outbox.table;
    known.tables[0].oid = table_oid;
    known.other_tables = {{"public", "users"}};
    return known;
}

/// Big-endian, as status updates have it.
std::uint64_t read_number(const std::string& bytes, std::size_t offset) {
    std::uint64_t value = 0;
    for (std::size_t index = 0; index < sizeof value; ++index) {
        value = (value << 8U) | static_cast<unsigned char>(bytes.at(offset + index));
    }
    return value;
}

lsn flushed_in(const std::string& status) {
    constexpr std::size_t flushed_offset = 9;  // behind 'r' and the written position
    return lsn{read_number(status, flushed_offset)};
}

struct describer {
    std::string operator()(const relay::connect_broker&) const { return "connect_broker"; }
    std::string operator()(const relay::close_broker&) const { return "close_broker"; }
    std::string operator()(const relay::connect_postgres& each) const {
        return each.gap ? "connect_postgres for a gap" : "connect_postgres";
    }
    std::string operator()(const relay::close_postgres&) const { return "close_postgres"; }
    std::string operator()(const relay::finish_postgres&) const { return "finish_postgres"; }
    std::string operator()(const relay::adopt_slot&) const { return "adopt_slot"; }
    std::string operator()(const relay::publish& each) const {
        const auto& expected = each.what.expected_last_sequence;
        return "publish " + each.what.content->id +
               (expected ? "@" + std::to_string(*expected) : "");
    }
    std::string operator()(const relay::send_status& each) const {
        return "status " + to_string(flushed_in(each.bytes));
    }
    std::string operator()(const relay::store_witness& each) const {
        return "store_witness " + std::to_string(each.epoch) +
               " sequence=" + std::to_string(each.what.sequence) +
               " told=" + to_string(each.what.told);
    }
    std::string operator()(const relay::store_dead_letters& each) const {
        std::string text = each.letters->size() == 1 ? "dead_letter" : "dead_letters";
        for (const auto& letter : *each.letters) {
            text += " " + to_string(letter.where.at.commit) + "." +
                    std::to_string(letter.where.at.index);
        }
        return text;
    }
    std::string operator()(const relay::ask_stream&) const { return "ask_stream"; }
    std::string operator()(const relay::read_message& wanted) const {
        return "read_message " + std::to_string(wanted.sequence);
    }
    std::string operator()(const relay::mark_stream&) const { return "mark_stream"; }
    std::string operator()(const relay::read_stored& each) const {
        return "read_stored since " + to_string(each.wanted.since);
    }
    std::string operator()(const relay::look_for_rows& each) const {
        std::string text = "look_for_rows";
        for (const auto& row : each.rows) {
            text += " " + row.id;
        }
        return text;
    }
    std::string operator()(const relay::leave_out& each) const {
        std::string text = "leave_out";
        for (const auto& row : each.rows) {
            text += " " + row.id;
        }
        return text;
    }
    std::string operator()(const relay::write_back& each) const {
        std::string text = each.batch.retried ? "write_back_retried" : "write_back";
        for (const auto& row : each.batch.rows) {
            text += (row.reread ? " again:" : " ") + row.key;
        }
        return text;
    }
    std::string operator()(const relay::fetch_row& each) const { return "fetch_row " + each.key; }
    std::string operator()(const relay::find_blocker& each) const {
        return each.what == relay::waiting_write::statuses ? "find_blocker of a write_back"
                                                           : "find_blocker of dead_letters";
    }
    std::string operator()(const relay::look_at_table& each) const {
        return "look_at_table " + to_string(each.table);
    }
    std::string operator()(const relay::ask_replayed&) const { return "ask_replayed"; }
    std::string operator()(const relay::store_halt&) const { return "store_halt"; }
    std::string operator()(const relay::write_log& each) const { return "log " + each.line.text(); }
    std::string operator()(const relay::finish& each) const {
        return "finish " + std::to_string(each.exit_code);
    }
};

}  // namespace

std::string describe(const relay::action& wanted) {
    return std::visit(describer{}, wanted);
}

relay_script::relay_script(relay::lane_options window) : relay_script(options_with(window)) {}

relay_script::relay_script(relay::relay_options options)
    : machine_(completed(std::move(options)), mappers(), 1) {}

std::vector<std::string> relay_script::collect() {
    std::vector<std::string> lines;
    while (const auto wanted = next_action()) {
        note(*wanted);
        const bool is_mark = std::holds_alternative<relay::mark_stream>(*wanted);
        const bool is_answered =
            answers_questions && std::holds_alternative<relay::ask_stream>(*wanted);
        if (!is_mark && !is_answered && !std::holds_alternative<relay::write_log>(*wanted)) {
            lines.push_back(describe(*wanted));
        }
        if (is_mark && answers_marks) {
            machine_.stream_marked({}, now());
        }
        if (is_answered) {
            machine_.stream_answered(broker_epoch_, machine_.the_lane().known_sequence(), now());
        }
    }
    return lines;
}

std::optional<relay::action> relay_script::next_action() {
    return is_full_ ? machine_.next_duty() : machine_.next_action(time_);
}

std::vector<std::string> relay_script::connection_has_room() {
    is_full_ = false;
    return collect();
}

void relay_script::note(const relay::action& wanted) {
    if (const auto* const connect = std::get_if<relay::connect_broker>(&wanted)) {
        broker_epoch_ = connect->epoch;
        in_flight_.clear();
    } else if (const auto* const streaming = std::get_if<relay::connect_postgres>(&wanted)) {
        postgres_epoch_ = streaming->epoch;
    } else if (const auto* const sent = std::get_if<relay::publish>(&wanted)) {
        in_flight_.push_back(sent->what);
    } else if (const auto* const status = std::get_if<relay::send_status>(&wanted)) {
        reported_ = flushed_in(status->bytes);
    } else if (const auto* const marking = std::get_if<relay::mark_stream>(&wanted)) {
        marks_.push_back(marking->owner.rules);
        mark_to_be_ = marking->to_be;
        written_mark_ = to_string(marking->owner);
    } else if (const auto* const reading = std::get_if<relay::read_stored>(&wanted)) {
        has_holes_ = reading->wanted.has_holes;
    } else if (const auto* const dead = std::get_if<relay::store_dead_letters>(&wanted)) {
        letter_ = dead->letters->back();
    } else if (const auto* const looking = std::get_if<relay::look_for_rows>(&wanted)) {
        looking_epoch_ = looking->epoch;
    } else if (const auto* const line = std::get_if<relay::write_log>(&wanted)) {
        log_lines_.push_back(line->line.text());
        if (line->line.severity() == log_severity::warning) {
            warnings_.push_back(line->line.text());
        }
    } else if (const auto* const last = std::get_if<relay::finish>(&wanted)) {
        halted_for_ = last->why;
    }
}

std::vector<std::string> relay_script::start() {
    machine_.start();
    return collect();
}

std::vector<std::string> relay_script::broker_connects(std::uint64_t last_sequence,
                                                       std::optional<commit_position> tail,
                                                       std::optional<commit_position> straggler) {
    broker_facts known;
    known.max_payload_bytes = max_payload_bytes;
    known.stream.emplace();
    known.stream->max_message_bytes = max_message_bytes;
    known.stream->description = description;
    known.stream->created = wall_time(std::chrono::hours(1));
    known.stream->final_id = final_id;
    known.stream->asked = asked;
    known.stream->duplicate_window = duplicate_window;
    known.stream->shared = shared;
    known.stream->safe_sequence = safe_sequence;
    known.stream->placed = placed;
    known.stream->placed_is_whole = placed_is_whole;
    known.stream->recent = recent;
    known.stream->last_sequence = last_sequence;
    known.stream->first_sequence = first_sequence;
    known.stream->first_stored = first_stored;
    known.stream->message_count = last_sequence + 1 - std::min(first_sequence, last_sequence + 1);
    if (tail) {
        const auto whose = tail_origin.value_or(origin);
        known.stream->last_position = position{whose, *tail};
        known.stream->final_position = position{whose, straggler.value_or(*tail)};
    }
    machine_.broker_connected(broker_epoch_, known, now());
    return collect();
}

std::vector<std::string> relay_script::leader_moves() {
    machine_.leader_moved(broker_epoch_, "n2");
    return collect();
}

std::vector<std::string> relay_script::broker_fails(errc code) {
    machine_.broker_failed(broker_epoch_, {code, "the broker is gone", "start it"}, now());
    return collect();
}

std::vector<std::string> relay_script::postgres_connects_with(history whose, lsn slot_confirmed) {
    relay::postgres_session session{whose, relay::table_catalog({outbox}, facts(control_secret)),
                                    output_plugin::pgoutput, std::chrono::seconds(60),
                                    slot_confirmed};
    session.database = "app";
    session.dead_letters = dead_letters;
    session.on_standby = on_standby;
    session.newest_rows = newest_rows;
    session.newest_rows_unread = newest_rows_unread;
    session.witness = witness;
    session.goes_on_without = goes_on_without;
    session.server = {{whose, ancestors}, wal_end};
    machine_.postgres_connected(postgres_epoch_, std::move(session), now());
    auto lines = collect();
    auto more = frame(relation_frame(table_oid, "public", "outbox", {"id", "kind", "payload"}));
    lines.insert(lines.end(), more.begin(), more.end());
    return lines;
}

std::vector<std::string> relay_script::replayed(const result<replay_place>& place) {
    machine_.replayed(postgres_epoch_, place, now());
    return collect();
}

std::vector<std::string> relay_script::postgres_connects_with_rows(lsn consistent_point,
                                                                   std::uint64_t stream_sequence) {
    relay::postgres_session session;
    session.origin = origin;
    session.catalog = relay::table_catalog({outbox}, facts(control_secret));
    session.rows_first = {consistent_point, stream_sequence, "snapshot", 1};
    session.witness = witness;
    machine_.postgres_connected(postgres_epoch_, std::move(session), now());
    return collect();
}

std::vector<std::string> relay_script::witness_is_stored(
    const result<std::optional<std::uint64_t>>& version) {
    machine_.witness_stored(postgres_epoch_, version, now());
    return collect();
}

std::vector<std::string> relay_script::old_row(const std::string& id, const std::string& kind) {
    constexpr type_oid text = 25;
    static const relation table{
        "public", "outbox", {{"id", text}, {"kind", text}, {"payload", text}}, 1};
    if (machine_.wants_rows()) {
        const std::vector<field> values{id, kind, "{}"};
        machine_.row_arrived(0, {&table, values}, false, now());
    }
    return collect();
}

std::vector<std::string> relay_script::rows_end() {
    machine_.rows_ended(now());
    return collect();
}

std::vector<std::string> relay_script::slot_is_adopted() {
    machine_.slot_adopted(postgres_epoch_, now());
    return collect();
}

std::vector<std::string> relay_script::postgres_fails(errc code) {
    machine_.postgres_failed(postgres_epoch_, {code, "PostgreSQL is gone", "start it"}, now());
    return collect();
}

std::vector<std::string> relay_script::dead_letter_is_stored() {
    machine_.dead_letters_stored(postgres_epoch_, now());
    return collect();
}

std::vector<std::string> relay_script::new_rows_are_called(const relay::roll& of) {
    machine_.new_rows_called(postgres_epoch_, of, now());
    return collect();
}

std::vector<std::string> relay_script::rows_are_missing(const std::vector<std::string>& ids) {
    std::vector<relay::roll_row> rows;
    for (const auto& id : ids) {
        rows.push_back({0, id, {}});
    }
    machine_.rows_looked_for(looking_epoch_, rows, now());
    return collect();
}

std::vector<std::string> relay_script::rows_are_left_out(const result<void>& kept) {
    machine_.rows_left_out(kept);
    return collect();
}

std::vector<std::string> relay_script::dead_letter_fails(errc code) {
    machine_.dead_letters_failed(postgres_epoch_, {code, "no dead letter", "grant it"}, now());
    return collect();
}

std::vector<std::string> relay_script::rows_are_written_back() {
    machine_.written_back(postgres_epoch_, now());
    return collect();
}

std::vector<std::string> relay_script::message_is_read(const result<asked_message>& found) {
    machine_.message_read(broker_epoch_, found, now());
    return collect();
}

std::vector<std::string> relay_script::blocker_is_found(relay::waiting_write what,
                                                        const result<std::string>& who) {
    machine_.blocker_found(postgres_epoch_, what, who, now());
    return collect();
}

std::vector<std::string> relay_script::table_is_seen(const result<table_sight>& seen) {
    machine_.table_looked_at(postgres_epoch_, seen, now());
    return collect();
}

std::vector<std::string> relay_script::row_is_fetched(std::optional<relay::table_row> row) {
    machine_.row_fetched(postgres_epoch_, std::move(row), now());
    return collect();
}

std::vector<std::string> relay_script::stream_answers(std::uint64_t last_sequence) {
    machine_.stream_answered(broker_epoch_, last_sequence, now());
    return collect();
}

std::vector<std::string> relay_script::stream_is_marked(
    const result<std::optional<std::uint64_t>>& done) {
    machine_.stream_marked(done, now());
    return collect();
}

std::vector<std::string> relay_script::stored_is_read(
    std::shared_ptr<const relay::stored_rows> rows) {
    machine_.stored_read(postgres_epoch_, {std::move(rows)}, now());
    auto lines = collect();
    auto more = frame(relation_frame(table_oid, "public", "outbox", {"id", "kind", "payload"}));
    lines.insert(lines.end(), more.begin(), more.end());
    return lines;
}

std::vector<std::string> relay_script::write_back_fails(errc code) {
    machine_.write_back_failed(postgres_epoch_, {code, "no write-back", "grant it"}, now());
    return collect();
}

std::vector<std::string> relay_script::postgres_finishes() {
    machine_.postgres_finished();
    return collect();
}

std::vector<std::string> relay_script::halt_is_stored() {
    machine_.halt_stored(now());
    return collect();
}

std::vector<std::string> relay_script::frame(const std::string& bytes) {
    auto lines = single_frame(bytes);
    if (bytes.starts_with('k')) {
        // Asked for, it says so once more.
        auto more = single_frame(bytes);
        lines.insert(lines.end(), more.begin(), more.end());
    }
    return lines;
}

std::vector<std::string> relay_script::single_frame(const std::string& bytes) {
    if (machine_.wants_frames()) {
        machine_.frame_arrived(bytes, now());
    }
    return collect();
}

std::vector<std::string> relay_script::part_of_frame() {
    machine_.frame_arrives();
    return collect();
}

std::vector<std::string> relay_script::acks(std::uint64_t count) {
    std::vector<std::string> lines;
    for (; count > 0 && !in_flight_.empty(); --count) {
        auto more = reply({relay::outcome_class::stored,
                           in_flight_.front().expected_last_sequence.value_or(0) + 1,
                           0,
                           {}});
        lines.insert(lines.end(), more.begin(), more.end());
    }
    return lines;
}

std::vector<std::string> relay_script::acks_last(std::uint64_t sequence) {
    std::rotate(in_flight_.begin(), in_flight_.end() - 1, in_flight_.end());
    return reply({relay::outcome_class::stored, sequence, 0, {}});
}

std::vector<std::string> relay_script::reply(relay::publish_outcome outcome) {
    if (in_flight_.empty()) {
        throw std::logic_error("nothing is in flight");
    }
    const auto token = in_flight_.front().token;
    in_flight_.erase(in_flight_.begin());
    time_ += between_replies;
    machine_.reply_arrived(token, outcome, now());
    return collect();
}

std::vector<std::string> relay_script::passes(std::chrono::milliseconds time) {
    time_ += time;
    machine_.time_passed(now());
    return collect();
}

std::vector<std::string> relay_script::stops() {
    machine_.stop_requested(now());
    return collect();
}

std::vector<std::string> relay_script::transaction(std::uint64_t commit,
                                                   const std::vector<std::string>& ids) {
    auto lines = frame(begin_frame(lsn{commit}));
    for (const auto& id : ids) {
        auto more = frame(insert_frame(table_oid, {id, "kind", "{}"}));
        lines.insert(lines.end(), more.begin(), more.end());
    }
    auto more = frame(commit_frame(lsn{commit}, lsn{commit + 1}));
    lines.insert(lines.end(), more.begin(), more.end());
    return lines;
}

}  // namespace walrelay::test
