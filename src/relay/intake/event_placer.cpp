#include "relay/intake/event_placer.hpp"

#include "outbox/header_check.hpp"
#include "relay/intake/tail_meeting.hpp"

#include <utility>

namespace walrelay::relay {
namespace {

/// As of outbox/subject: the server refuses protocol lines of more than 4 KiB (max_control_line).
constexpr std::size_t subject_bytes_max = 1024;

message_cause cause_of(const outbox_event& event, const commit_position& where) {
    if (event.replay != nullptr) {
        return message_cause::replay;
    }
    if (!event.occasion.empty()) {
        return event.occasion.starts_with("retry") ? message_cause::retry
                                                   : message_cause::republish;
    }
    return is_of_a_snapshot(where) ? message_cause::snapshot : message_cause::live;
}

}  // namespace

event_placer::event_placer(std::vector<outbox::table_mapper> mappers, const intake_options& options)
    : mappers_(std::move(mappers)), options_(options), received_(mappers_.size()) {
    if (options_.sole_writer) {
        return;
    }
    for (auto& mapper : mappers_) {
        mapper.keep_aggregates();
    }
}

void event_placer::begin(history origin, const table_catalog& catalog, bool with_snapshot) {
    fates_.begin_connection();
    origin_ = origin;
    for (auto& mapper : mappers_) {
        // Rows of a snapshot are read now, so that their types are there.
        mapper.set_domains(catalog.domains(),
                           with_snapshot ? outbox::made_types{} : catalog.types());
    }
    in_snapshot_ = with_snapshot;
    described_.assign(mappers_.size(), nullptr);
}

bool event_placer::set_limits(size_limits limits) {
    const auto before = std::exchange(limits_, limits);
    return limits_.least() < before.least();
}

result<void> event_placer::place(const reading& now, const outbox_event& event) {
    return place_at(now.in.place(), now, event);
}

result<void> event_placer::place_at(commit_position here, const reading& now,
                                    const outbox_event& event) {
    auto& into = now.into;
    auto& received = received_[event.table];
    ++received.rows;
    if (!in_snapshot_) {
        received.last = now.in.begin.committed_at;
    }
    if (into.covers(here)) {
        ++already_stored_;
        if (!fates_.is_dead(here)) {
            now.in.last_published = here;
            await_write_back(now, event, true);
        }
        return into.claim() ? pass_over(here, now, event) : result<void>{};
    }
    message& filled = vacancy_for(here, now);
    const auto made = fill(event, filled);
    if (is_stored(filled, now)) {
        await_write_back(now, event, true);
        return {};
    }
    if (is_dead(here, now)) {
        return {};
    }
    if (event.row.too_large_bytes > 0) {
        return set_aside_without_content(
            event, filled, row_too_large(filled.id, here, event.row.too_large_bytes), now.done);
    }
    if (!made) {
        // Room for the letter: a body that no broker takes can be as large as the row.
        std::string().swap(filled.body);
        return set_aside(event, filled, made.error(), now.done);
    }
    keep(event, into.vacant_row());
    into.admit();
    now.in.last_published = here;
    await_write_back(now, event, false);
    return {};
}

/// Whatever the stream's last messages say of it.
bool event_placer::is_stored(const message& filled, const reading& now) {
    auto& into = now.into;
    if (!fates_.is_stored(filled.where.at) && !into.has_acked(filled) &&
        !(into.is_resuming() && into.has_stored(filled))) {
        return false;
    }
    ++already_stored_;
    now.in.last_published = filled.where.at;
    into.admit_stored();
    return true;
}

bool event_placer::is_dead(commit_position here, const reading& now) const {
    if (!fates_.is_dead(here)) {
        return false;
    }
    now.into.admit_settled({origin_, here});
    return true;
}

bool event_placer::needs_no_letter(const message& known, const reading& now) {
    const auto here = known.where.at;
    if (auto& into = now.into; into.covers(here)) {
        // What cannot be read has no id: its place alone tells that the stream ends with it.
        if (into.claim() && into.claim()->where.at == here) {
            into.claim_is_met();
        }
        return true;
    }
    return is_stored(known, now) || is_dead(here, now);
}

void event_placer::place_published(const reading& now, const outbox_event& event) {
    now.into.admit_settled({origin_, now.in.place()});
    now.in.last_published = now.in.at;
    await_write_back(now, event, true);
}

result<void> event_placer::pass_over(commit_position here, const reading& now,
                                     const outbox_event& event) {
    auto& into = now.into;
    const auto& tail = *into.claim();
    if (here != tail.where.at && !into.claimed().shows_others_around(here)) {
        return {};
    }
    message& same = vacancy_for(here, now);
    // Only the id matters, and a row that can no longer be mapped has none.
    static_cast<void>(fill(event, same));
    if (here != tail.where.at) {
        if (!fates_.is_dead(here) && into.claimed().leaves_out(here, same.id)) {
            now.done.left_out = same.id;
        }
        return {};
    }
    if (!tail.id.empty() && !same.id.empty() && same.id != tail.id) {
        return tail_is_another_row(tail, same.id, options_.stream);
    }
    into.claim_is_met();
    return {};
}

void event_placer::await_write_back(const reading& now, const outbox_event& event, bool reread) {
    if (event.table >= options_.duties.size() || !options_.duties[event.table].writes_back ||
        event.replay != nullptr) {
        return;
    }
    // A row without an id cannot be found again in its table.
    if (const auto key = mappers_[event.table].id_of(event.row)) {
        now.done.awaited = {event.table,
                            *now.in.last_event,
                            std::string(*key),
                            reread,
                            event.occasion.starts_with("retry"),
                            now.in.begin.xid};
    }
}

message& event_placer::vacancy_for(commit_position here, const reading& now) const {
    message& vacancy = now.into.vacancy();
    vacancy.where = {origin_, here};
    vacancy.committed_at = now.in.begin.committed_at;
    vacancy.xid = now.in.begin.xid;
    return vacancy;
}

result<void> event_placer::fill(const outbox_event& event, message& out) {
    out.cause = cause_of(event, out.where.at);
    const auto mapped = event.replay == nullptr ? mappers_[event.table].map(event.row, out)
                                                : map_replayed(event, out);
    // Also of a row that is not mapped to its end: it is known by its id.
    if (!event.occasion.empty() && !out.id.empty()) {
        out.id += ';';
        out.id += event.occasion;
    }
    if (!mapped) {
        return mapped;
    }
    if (auto sound = outbox::check_lines(out); !sound) {
        return sound;
    }
    if (auto fits = limits_.check(out); !fits) {
        return fits;
    }
    if (const auto* const found = fates_.reason_for(out, in_snapshot_)) {
        return found->why;
    }
    return {};
}

/// The row as it was: also where its commit time is a part of the message.
result<void> event_placer::map_replayed(const outbox_event& event, message& out) {
    const auto& mark = *event.replay;
    const auto now = std::exchange(out.committed_at, mark.committed_at.value_or(out.committed_at));
    auto mapped = mappers_[event.table].map(event.row, out);
    out.committed_at = now;
    if (!mapped) {
        return mapped;
    }
    out.add_header("Walrelay-Replay", std::to_string(mark.number));
    if (!mark.position.empty()) {
        out.add_header("Walrelay-Original-Position", mark.position);
    }
    return mark.subject.empty() ? result<void>{} : give_subject(mark, out);
}

result<void> event_placer::give_subject(const replay_mark& mark, message& out) const {
    auto subject = replayed_subject(mark.subject, out.subject);
    if (subject.size() > subject_bytes_max) {
        return error{errc::row_unmappable,
                     "the subject " + mark.subject + " of replay " + std::to_string(mark.number) +
                         " makes one of " + std::to_string(subject.size()) +
                         " bytes of the row at position " + to_string(out.where),
                     "replay to a shorter subject"};
    }
    out.subject = std::move(subject);
    return {};
}

void event_placer::keep(const outbox_event& event, kept_row& into) {
    if (!options_.dead_letters) {
        return;
    }
    auto& about = described_[event.table];
    if (!about || about->revision != event.row.table->revision) {
        about = std::make_shared<const relation>(*event.row.table);
    }
    into.keep(event.table, about, event.row);
}

result<void> event_placer::set_aside(const outbox_event& event, const message& content,
                                     const error& why, frame_read& done) {
    if (!options_.dead_letters) {
        return why;
    }
    condemnation reason{why, 0, 0};
    if (const auto* const found = fates_.reason_for(content, in_snapshot_)) {
        reason = *found;
    }
    auto& mapper = mappers_[event.table];
    done.dead = make_dead_letter(mapper.table(), event.row, content, reason);
    done.dead->retry = parse_retry(event.occasion);
    if (event.replay == nullptr) {
        done.dead->key = mapper.id_of(event.row);
    }
    return {};
}

result<void> event_placer::set_aside_without_content(const outbox_event& event,
                                                     const message& content, const error& why,
                                                     frame_read& done) {
    auto aside = set_aside(event, content, why, done);
    if (aside) {
        done.dead->event.clear();
    }
    return aside;
}

result<void> event_placer::set_stranger_aside(const table_name& table, const row_insert& row,
                                              const error& why, const reading& now) {
    const message& unfilled = vacancy_for(now.in.place(), now);
    if (needs_no_letter(unfilled, now)) {
        return {};
    }
    const auto reason = with_doubt(why, unfilled, now.into);
    if (!options_.dead_letters) {
        return reason;
    }
    now.done.dead = make_dead_letter(table, row, unfilled, {reason, 0, 0});
    if (row.too_large_bytes > 0) {
        now.done.dead->event.clear();
    }
    return {};
}

void event_placer::decline_retry(const letter_retry& which, const table_name& table,
                                 const error& why, const reading& now) {
    const message& vacant = vacancy_for(now.in.place(), now);
    if (needs_no_letter(vacant, now)) {
        return;
    }
    auto& letter = now.done.dead.emplace();
    letter.source = table;
    letter.where = vacant.where;
    letter.committed_at = vacant.committed_at;
    letter.xid = vacant.xid;
    letter.reason = to_string(with_doubt(why, vacant, now.into));
    letter.retry = which;
}

/// A letter that is written although its row may be in the stream says so.
error event_placer::with_doubt(error why, const message& unfilled, const lane& into) const {
    if (into.is_resuming() && unfilled.id.empty() && into.may_have_stored(unfilled.where.at)) {
        why.what += "; stream " + options_.stream +
                    " may have its message already, which only its id could tell, and that is not "
                    "known: look for a message with the header Walrelay-Position " +
                    to_string(unfilled.where) + " before it is published again";
    }
    return why;
}

dead_letter event_placer::letter_of(const message& refused, const kept_row& row,
                                    const condemnation& reason) {
    const auto fields = row.fields();
    const row_insert again{&row.about(), fields};
    auto& mapper = mappers_[row.table()];
    auto letter = make_dead_letter(mapper.table(), again, refused, reason);
    if (refused.cause == message_cause::retry) {
        letter.retry = parse_retry(last_occasion(refused.id));
    }
    if (refused.cause != message_cause::replay) {
        letter.key = mapper.id_of(again);
    }
    return letter;
}

row_insert event_placer::with_size(row_insert row) const {
    std::uint64_t bytes = 0;
    for (const auto& each : row.fields) {
        bytes += each ? each->size() : 0;
    }
    row.too_large_bytes = bytes > options_.max_row_bytes ? bytes : 0;
    return row;
}

error event_placer::row_too_large(std::string_view id, commit_position where,
                                  std::uint64_t bytes) const {
    const auto name = id.empty() ? std::string("a row") : "row id " + std::string(id);
    return {errc::message_too_large,
            name + " (position " + to_string(position{origin_, where}) + ") has " +
                std::to_string(bytes) + " bytes, more than delivery.max_row_bytes = " +
                std::to_string(options_.max_row_bytes),
            "let its writer keep large content elsewhere and refer to it; or raise "
            "delivery.max_row_bytes (where the log has row_limit_lowered: the memory limit of the "
            "process) and the broker's max_payload, and insert the row again"};
}

}  // namespace walrelay::relay
