// The relay machine's events of a backfill: rows of the tables that come before the slot's.
//
//   connected with rows first -> row_arrived* -> rows_ended -> (all stored and confirmed)
//   -> adopt_slot -> slot_adopted -> a new connection, which streams from the slot
//
// Until it is adopted the slot is a temporary one. Whatever breaks off before ends it, and the next
// try begins with a look at what the stream has by then.

#include "core/assert.hpp"
#include "core/progress.hpp"
#include "relay/machine/relay_machine.hpp"
#include "relay/machine/relay_words.hpp"

#include <utility>

namespace walrelay::relay {
namespace {

constexpr std::chrono::milliseconds look_again{250};

}  // namespace

bool relay_machine::has_room() const {
    return life_.is_running() && postgres_.is_up() && !comparing_.is_reading_back() &&
           // What a row is, a dead letter for one, cannot be said while its tail is not judged.
           (backfilling_.is_open() || lane_->belief() != tail_belief::undecided) &&
           !checkpoint_.is_waiting() && letters_.has_room() && !question_.is_open() &&
           !known_.timeline().is_asking() && lane_->has_room() &&
           // Before the tail is met nothing is written back, so that no room would ever come free.
           (lane_->claim() || write_backs_.rows().has_room());
}

bool relay_machine::wants_rows() const {
    return backfilling_.wants_rows() && has_room();
}

void relay_machine::begin_backfill(postgres_session session, instant now) {
    if (!joins_history(session, now)) {
        return;
    }
    postgres_.connected(now.monotonic);
    static_cast<void>(checkpoint_.place().take());
    checkpoint_.place().forget();
    const auto& what = *session.rows_first;
    checkpoint_.slot_taken({what.consistent_point,
                            session.server.line,
                            {},
                            true,
                            std::move(session.witness),
                            false,
                            false,
                            false});
    if (const auto refused = checkpoint_.refuses_stream()) {
        halt(*refused, now);
        return;
    }
    if (!options_.lane.sole_writer || lane_->belief() == tail_belief::undecided || lane_->claim()) {
        // All of the stream was read to tell which rows it has.
        lane_->believe(tail_belief::exact);
    }
    backfilling_.begin(what);
    const bool is_current = lane_->known_sequence() == what.stream_sequence;
    if (!lane_->empty() || (options_.lane.sole_writer && !is_current)) {
        start_backfill_over("somebody wrote to it meanwhile", now);
        return;
    }
    const auto ends = lane_->admitted();
    if (ends && ends->commit >= before_slot(what.consistent_point)) {
        lose_postgres(
            lies_beyond_the_wal(options_.stream, *ends, lane_->opened_with().checkpoint_sequence(),
                                what.consistent_point),
            now);
        return;
    }
    // Nothing is published before one that is owed is written.
    write_mark();
    lane_->outlast_stragglers();
    intake_.begin_snapshot(session.origin, std::move(session.catalog), what.consistent_point,
                           now.wall);
    log<"snapshot_started">(what.why + ": publishing " + counted(what.row_count, "row") +
                                " of the tables before slot " + options_.slot + " begins at LSN " +
                                to_string(what.consistent_point),
                            with<"rows">(what.row_count), with<"slot">(options_.slot),
                            with<"lsn">(what.consistent_point));
}

void relay_machine::row_arrived(std::size_t table, const row_insert& row, bool published,
                                instant now) {
    WALRELAY_ASSERT(wants_rows());
    if (published) {
        auto read = intake_.read_published_row(table, row, *lane_);
        take_frame(read, now);
        return;
    }
    auto read = intake_.read_row(table, row, *lane_);
    if (!read) {
        frame_failed(read.error(), now);
        return;
    }
    take_frame(*read, now);
}

void relay_machine::rows_ended(instant now) {
    if (!backfilling_.wants_rows() || !life_.is_running()) {
        return;
    }
    backfilling_.rows_ended();
    auto read = intake_.end_snapshot(backfilling_.what().consistent_point);
    take_frame(read, now);
}

void relay_machine::adopt_if_stored(instant now) {
    const auto begins = backfilling_.what().consistent_point;
    if (!backfilling_.waits_for_acks() || !life_.is_running() ||
        confirm_.held().confirmed() < begins) {
        return;
    }
    // First the witness, so that no later start holds the new slot against what was before it.
    if (backfilling_.is_first_to_be_witnessed()) {
        checkpoint_.begin_anew(confirm_.newest_stored(), begins, known_.line().origin);
    }
    write_witness(now);
    if (!checkpoint_.keeper().is_replacing()) {
        backfilling_.adopting();
        checkpoint_.place().told(begins);
        checkpoint_.others_hold_slot();  // it is another slot from now on
        actions_.emplace_back(adopt_slot{postgres_.epoch()});
    }
}

void relay_machine::slot_adopted(std::uint64_t epoch, instant now) {
    if (epoch != postgres_.epoch() || !backfilling_.is_open() || !life_.is_running()) {
        return;
    }
    log<"snapshot_done">(
        "snapshot done: " + counted(backfilling_.what().row_count, "row") + " published; slot " +
            options_.slot + " begins at LSN " + to_string(backfilling_.what().consistent_point),
        with<"slot">(options_.slot), with<"lsn">(backfilling_.what().consistent_point));
    backfilling_.adopted();
    drop_source();
    postgres_.wait(now.monotonic, std::chrono::milliseconds(0));
}

void relay_machine::slot_has_gap(const error& why, instant now) {
    if (!options_.heals || backfilling_.fills_gap()) {
        halt(why, now);
        return;
    }
    log<"gap_healing">(why.what +
                           "; healing (on_slot_loss = \"heal\"): what the stream lacks is "
                           "published from the tables",
                       with<"slot">(options_.slot), with<"stream">(options_.stream));
    backfilling_.fill_gap();
    drop_source();
    postgres_.wait(now.monotonic, std::chrono::milliseconds(0));
}

bool relay_machine::backfill_holds(const stream_tail& tail) const {
    const auto& what = backfilling_.what();
    if (!options_.lane.sole_writer || tail.last_sequence == what.stream_sequence) {
        return true;
    }
    // The last message, not the greatest position: what this relay published before the backfill
    // can arrive during it.
    return tail.final_position && known_.shares(*tail.final_position) &&
           tail.final_position->at.commit == before_slot(what.consistent_point);
}

void relay_machine::start_backfill_over(const std::string& why, instant now) {
    log<"snapshot_restarted">(
        "looking again for the rows that stream " + options_.stream + " lacks: " + why,
        with<"stream">(options_.stream));
    drop_source();
    postgres_.wait(now.monotonic, look_again);
}

void relay_machine::give_backfill_up() {
    if (!backfilling_.give_up() || is_closing()) {
        return;
    }
    // What is in the window has a place that the next try does not know.
    read_tail_again();
    lane_->start_over();
}

}  // namespace walrelay::relay
