// The relay machine's part of the stream's mark (relay/stream_mark): what it is to say, and when.

#include "relay/machine/relay_machine.hpp"
#include "relay/machine/relay_words.hpp"

#include <algorithm>
#include <utility>

namespace walrelay::relay {
namespace {

std::string cannot_be_marked(const error& why) {
    return to_string(why) +
           ". Without it, every start compares the rows that the slot sends with the stream, and a "
           "relay of another database that is pointed at this stream would not be noticed";
}

}  // namespace

stream_owner relay_machine::mark_now() const {
    stream_owner mark{options_.slot, known_.name(), known_.line().origin.system_identifier,
                      known_.line().origin.timeline, known_.line().ancestors};
    mark.rules = options_.lane.sole_writer ? options_.rules
                                           : std::string(shared_rules) + "-" + options_.rules;
    const bool has_rules = mark_.known() && !mark_.known()->rules.empty();
    mark.since = has_rules ? known_.slot_confirmed() : mark_.taken_since();
    mark.ids = ids_now();
    return mark;
}

/// What this relay publishes by rules that the mark does not have comes after the WAL that is there
/// now. Taken back, they are as new as others: what came in between was published by those.
std::vector<id_rules> relay_machine::ids_now() const {
    const auto& known = mark_.known();
    const bool has_rules = known && !known->rules.empty();
    const bool is_of_before = has_rules && known->ids.empty() && !has_new_tables();
    std::vector<id_rules> now;
    for (const auto& fingerprint : options_.ids) {
        if (std::ranges::find(now, fingerprint, &id_rules::fingerprint) != now.end()) {
            continue;
        }
        const auto without = is_of_before ? known->since
                             : has_rules  ? known_.wal_end()
                                          : mark_.taken_since();
        now.push_back(ids_in(known, fingerprint).value_or(id_rules{fingerprint, without}));
    }
    return now;
}

bool relay_machine::has_new_rules() const {
    const auto& known = mark_.known();
    return known && !known->rules.empty() && known->rules != mark_now().rules;
}

bool relay_machine::has_new_tables() const {
    const auto& known = mark_.known();
    return known && !known->rules.empty() && fingerprint_in(*known) != options_.rules;
}

std::vector<std::optional<lsn>> relay_machine::ids_hold_since() const {
    std::vector<std::optional<lsn>> since;
    since.reserve(options_.ids.size());
    for (const auto& fingerprint : options_.ids) {
        const auto found = ids_in(mark_.known(), fingerprint);
        since.push_back(found ? std::optional(found->since) : std::nullopt);
    }
    return since;
}

bool relay_machine::came_before_the_rules() const {
    const auto& known = mark_.known();
    return known && known_.slot_confirmed() < known->since;
}

std::uint64_t relay_machine::last_of_other_rules() const {
    return lane_->known_sequence() + options_.lane.window_messages;
}

void relay_machine::change_mark(stream_owner to) {
    mark_.change(std::move(to));
    write_mark();
}

void relay_machine::write_mark() {
    if (auto wanted = mark_.take_to_write()) {
        actions_.emplace_back(mark_stream{std::move(*wanted), *mark_.known()});
    }
}

void relay_machine::stream_marked(const result<std::optional<std::uint64_t>>& done, instant now) {
    mark_.written(done.has_value());
    if (is_closing()) {
        return;
    }
    take_mark_answer(done, now);
    close_when_drained(now);
}

void relay_machine::take_mark_answer(const result<std::optional<std::uint64_t>>& done,
                                     instant now) {
    if (!done && mark_.is_stale()) {
        // Where the broker has gone away, it is written over the next connection.
        const bool is_there = broker_.is_up();
        // Somebody may have written it by hand meanwhile.
        read_tail_again();
        if (is_there && done.error().code == errc::broker_unavailable) {
            lose_broker(done.error(), now);
        } else if (postgres_.is_up() && is_there) {
            lose_postgres({done.error().code,
                           done.error().what + ". A later start would believe what stands there, " +
                               "so that nothing is published until it is changed",
                           done.error().remedy},
                          now);
        }
        return;
    }
    if (!done) {
        log<"stream_not_marked">(cannot_be_marked(done.error()), with<"stream">(options_.stream),
                                 with<"error">(done.error().code));
    } else if (!*done || is_all_that_was_seen(**done)) {
        mark_.settle();
    } else if (mark_.doubts_again(lane_->opened_with().last_sequence)) {
        doubt_what_was_seen(**done, now);
        return;
    }
    write_mark();
    read_stored_once_marked();
    report_confirmed(now);
}

bool relay_machine::is_all_that_was_seen(std::uint64_t last_sequence) const {
    return !options_.lane.sole_writer ||
           last_sequence <= lane_->known_sequence() + lane_->unacked_count();
}

void relay_machine::doubt_what_was_seen(std::uint64_t last_sequence, instant now) {
    mark_.doubt(last_sequence);
    const auto& known = mark_.known();
    if (known && !known->rules.empty() && !is_being_compared(*known)) {
        // The rules stand there already. What came in between was sent before, by others perhaps.
        auto mark = *known;
        mark.disordered_after =
            disordered_from(known, known_.slot_confirmed(), lane_->known_sequence());
        mark.disordered_until = std::max(mark.disordered_until.value_or(0), last_sequence);
        mark.disordered_below = std::max(mark.disordered_below, known_.wal_end());
        mark_.change(std::move(mark));
    }
    if (broker_.is_up()) {
        lose_broker(
            {errc::broker_lost,
             "stream " + options_.stream + " ends with sequence " + std::to_string(last_sequence) +
                 ", but was seen to end with " + std::to_string(lane_->known_sequence()) +
                 ": a server did not know of it yet, or somebody else writes; its tail is read "
                 "again"},
            now);
    }
}

void relay_machine::remember_disorder() {
    const auto& known = mark_.known();
    if (known && !known->rules.empty() && !is_shared(*known) && !is_being_compared(*known)) {
        change_mark(being_compared(*known, true));
    }
}

void relay_machine::keep_mark_true() {
    // What another relay has written meanwhile is known of a fresh connection alone.
    if (!lane_->is_open() || !postgres_.is_up() || backfilling_.is_open() || comparing_.is_open() ||
        known_.name().empty() || (!options_.lane.sole_writer && !mark_.known()) ||
        lane_->belief() == tail_belief::undecided) {
        return;
    }
    auto mark = mark_now();
    const auto& known = mark_.known();
    if (known) {
        // Where the broker has lost messages, others get their sequences, and can be in disorder.
        mark.disordered_after = std::min(known->disordered_after, lane_->known_sequence());
        mark.disordered_until = known->disordered_until;
        mark.disordered_below = known->disordered_below;
    }
    if (has_new_rules()) {
        // Nothing is out of order for that, but what was left out before is not to be missed.
        mark.disordered_after =
            disordered_from(known, known_.slot_confirmed(), lane_->known_sequence());
        mark.disordered_until = last_of_other_rules();
    }
    if (known && !has_new_tables()) {
        mark.since = known->since;
    } else if (known && lane_->belief() == tail_belief::nothing) {
        // What the slot sends now may have been left out before. Where this connection breaks off,
        // the stream's last message, once it is one of walrelay's again, does not tell.
        mark.since = known_.wal_end();
    }
    change_mark(std::move(mark));
}

}  // namespace walrelay::relay
