// The relay machine's events of PostgreSQL: connections and frames.

#include "core/assert.hpp"
#include "core/joined.hpp"
#include "relay/machine/relay_machine.hpp"
#include "relay/machine/relay_words.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace walrelay::relay {
namespace {

std::string is_not_relayed(const table_name& name) {
    return "rows of table " + to_string(name) +
           " are not relayed: it is neither an outbox of the configuration nor now a partition of "
           "one; if it was one when they were written, compare its rows with the stream";
}

/// Where only the origin is known.
void complete_server(postgres_session& session) {
    if (session.server.line.origin == history{}) {
        session.server = {{session.origin}, lsn{std::numeric_limits<std::uint64_t>::max()}};
    }
}

}  // namespace

void relay_machine::postgres_connected(std::uint64_t epoch, postgres_session session, instant now) {
    if (has_begun()) {
        checkpoint_.miss_again();
    }
    if (epoch != postgres_.epoch() || !postgres_.is_connecting() || is_closing()) {
        return;
    }
    if (session.goes_on_without) {
        checkpoint_.go_on_without_missing();
    }
    if (life_.is_draining()) {
        // Nothing more is read, so that there is nothing to confirm, and nothing to be judged.
        drop_source();
        postgres_.shut();
        return;
    }
    complete_server(session);
    if (session.rows_first) {
        begin_backfill(std::move(session), now);
        return;
    }
    if (!joins_history(session, now)) {
        return;
    }
    postgres_.connected(now.monotonic);
    if (const auto how = checkpoint_.place().take(); how == slot_place::taken::after_standing_by) {
        take_over();
    } else if (how == slot_place::taken::after_tries) {
        // Whoever had the slot can have written meanwhile, to the stream and to its mark.
        read_tail_again();
    }
    if (!lane_->drop_unsent()) {
        read_tail_again();
        lane_->start_over();
    }
    lane_->prove_again();
    // As the mark was found: a comparison that begins now writes another one.
    const auto& rows = session.newest_rows;
    const known_rules before{has_new_tables(), rows && began_to_relay_after(rows->later_than)};
    if (!trusts_tail(now)) {
        return;
    }
    stream_from(std::move(session), before, now);
}

void relay_machine::stream_from(postgres_session session, known_rules rules, instant now) {
    if (session.newest_rows) {
        startup_check_.leave_out_removed(*session.newest_rows);
    }
    // Of all rows that are later, the stream has the messages only where it has kept them: where it
    // has not, that none is missing proves nothing.
    const bool rows_can_tell =
        session.newest_rows && !rules.new_tables &&
        (!session.newest_rows->is_exact ||
         startup_check_.may_lack_before() <= session.newest_rows->later_than);
    checkpoint_.slot_taken({session.slot_confirmed, session.server.line, session.slot_began,
                            session.slot_has_earlier_rows, std::move(session.witness),
                            rows_can_tell, rows_can_tell && session.newest_rows->is_whole, false,
                            rules.new_tables ? std::nullopt : std::move(session.newest_rows_unread),
                            rows_can_tell && session.newest_rows->took_too_long});
    for (const auto& name :
         intake_.begin_stream(session.origin, std::move(session.catalog), session.plugin)) {
        log<"table_not_relayed">(is_not_relayed(name), with<"table">(name));
    }
    keep_dead(session.dead_letters);
    known_.timeline().begin(session.on_standby);
    watch_.catching_up().begin(known_.wal_end());
    static_cast<void>(lane_->claim_again(session.slot_confirmed));
    const auto& claim = lane_->claim();
    watch_.sent_again().begin(session.slot_confirmed,
                              claim ? std::optional(claim->where) : std::nullopt,
                              intake_.already_stored());
    confirm_.begin_stream(session.slot_confirmed, checkpoint_.place().known_at_most(),
                          session.sender_timeout, now.monotonic);
    startup_check_.hear_no_more();
    if (rules.new_tables) {
        // Nor those that were read before it was seen that the tables have changed: a relay without
        // these tables may have passed their rows.
        startup_check_.forget();
    }
    if (session.newest_rows && !rules.new_tables) {
        auto& rows = *session.newest_rows;
        rows.is_exact = rows.is_exact && rows_can_tell && !rules.began_late;
        startup_check_.begin(rows, checkpoint_.goes_on_without());
        if (!startup_check_.is_open() && startup_check_.looked_for().empty()) {
            startup_check_is_over(0, now);
        }
    }
    look_for_missing();
    keep_mark_true();
    log<"streaming">("streaming from slot " + options_.slot + " with " + to_string(session.plugin),
                     with<"slot">(options_.slot), with<"plugin">(session.plugin),
                     with<"lsn">(session.slot_confirmed));
    believe(now);
    account_for_stored(now);
}

void relay_machine::take_over() {
    log<"slot_taken">("slot " + options_.slot + " is free: this relay takes over",
                      with<"slot">(options_.slot));
    read_tail_again();
}

void relay_machine::read_tail_again() {
    if (broker_.is_up()) {
        lane_->expect_others();
        connect_broker_anew();
    }
}

void relay_machine::stand_by(const error& why, instant now) {
    watch_.stands_by();
    if (why.code == errc::slot_in_use) {
        startup_check_.expect();
        checkpoint_.others_hold_slot();
    }
    auto& place = checkpoint_.place();
    const auto delay = place.was_in_use(why.code);
    if (place.is_for_long() && !place.is_standby()) {
        // Nobody leads meanwhile: to call that standing by would say that somebody does.
        watch_.postgres_is_awaited(why);
    }
    if (place.began_to_stand_by()) {
        // Whoever has the slot fills the gap, or moves on without.
        backfilling_.leave_gap();
        log<"standing_by">(clause_of(to_string(why)) +
                               "; standing by: this relay takes over as soon as the slot is free",
                           with<"slot">(options_.slot), with<"error">(why.code));
    }
    postgres_.wait(now.monotonic, delay);
}

void relay_machine::postgres_failed(std::uint64_t epoch, const error& why, instant now) {
    if (epoch != postgres_.epoch() || !(postgres_.is_connecting() || postgres_.is_up())) {
        return;
    }
    lose_postgres(why, now);
}

void relay_machine::lose_postgres(const error& why, instant now) {
    drop_source();
    if (life_.is_closing()) {
        postgres_.shut();
        if (!life_.is_storing_halt()) {
            end();
        }
        return;
    }
    if (why.code == errc::slot_in_use || why.code == errc::slot_not_released) {
        stand_by(why, now);
        return;
    }
    // Whoever locks the role out, or lets its password expire, lets it in again.
    const bool is_locked_out = why.code == errc::postgres_refused &&
                               (postgres_.was_up() || checkpoint_.place().was_refused());
    if (operator_needed(why) && !is_locked_out) {
        postgres_.shut();
        halt(why, now);
        return;
    }
    watch_.postgres_lost(why);
    const auto delay = postgres_.lost(now.monotonic);
    // A database that is gone has taken its slots along.
    const bool has_slot = knows_slot() && !is_locked_out;
    auto text = clause_of(to_string(why)) + "; trying again in " + seconds_text(delay) +
                (has_slot ? ", nothing is lost: the slot resends what is not confirmed" : "");
    if (why.code == errc::table_unknown) {
        // A new partition is no trouble.
        log<"tables_read_again">(std::move(text), with<"error">(why.code),
                                 with<"retry_seconds">(delay));
    } else {
        log<"postgres_lost">(std::move(text), with<"error">(why.code),
                             with<"retry_seconds">(delay));
    }
    close_when_drained(now);
}

void relay_machine::drop_source() {
    // The rows that the stream ends with need not have been met yet.
    const auto& tail = lane_->known_tail();
    checkpoint_.slot_lost(std::max(
        lane_->admitted(), tail && known_.shares(*tail) ? std::optional(tail->at) : std::nullopt));
    actions_.emplace_back(close_postgres{});
    confirm_.slot_lost();
    watch_.catching_up().end();
    write_backs_.forget();
    if (const auto asked = letters_.clear()) {
        intake_.stay_dead(*asked);
    }
    question_.close();
    known_.timeline().end();
    give_backfill_up();
    give_comparing_up();
}

void relay_machine::stream_from_the_slot_again(instant now) {
    if (life_.is_running() && (postgres_.is_up() || postgres_.is_connecting())) {
        drop_source();
        postgres_.wait(now.monotonic, std::chrono::milliseconds(0));
    }
}

void relay_machine::postgres_finished() {
    if (life_.is_closing()) {
        end();
    }
}

void relay_machine::frame_arrived(std::string_view frame, instant now, frame_owner* owner) {
    WALRELAY_ASSERT(wants_frames());
    const auto newest = lane_->admitted();
    auto read = intake_.read(frame, *lane_, owner);
    if (!read) {
        frame_failed(read.error(), now);
        return;
    }
    pacing_.took(frame.size());
    watch_.frame(frame.size(), now);
    if (read->age) {
        pacing_.was_sent_after(*read->age);
    }
    frame_was_read(*read, newest, now);
    watch_.reading_is_paused(is_window_full(), now);
}

void relay_machine::frame_was_read(frame_read& read,
                                   const std::optional<commit_position>& newest_before,
                                   instant now) {
    if (read.is_of_unknown_table) {
        question_.ask_for_table();
        actions_.emplace_back(look_at_table{postgres_.epoch(), intake_.unknown_table()});
        return;
    }
    if (startup_check_.wants_rows()) {
        note_delivered(read, newest_before, now);
    }
    if (watch_.first_transaction().is_awaited()) {
        // That the stream's last row has come moves what is admitted as well.
        const bool took_in = lane_->admitted() != newest_before && !lane_->empty() &&
                             lane_->newest().where.at == lane_->admitted();
        if (took_in || read.dead || read.incomplete) {
            name_first_transaction();
            watch_.first_transaction().is_here();
        }
    }
    take_frame(read, now);
    if (watch_.sent_again().is_open() && !lane_->claim()) {
        tell_of_sent_again();
    }
    ask_for_timeline();
}

void relay_machine::frame_arrives() {
    if (!watch_.first_transaction().is_awaited() || !intake_.in_transaction()) {
        return;
    }
    const auto commit = intake_.open_commit();
    const auto& claim = lane_->claim();
    const auto& admitted = lane_->admitted();
    const bool is_known =
        claim ? commit <= claim->where.at.commit : admitted && commit < admitted->commit;
    if (!is_known) {
        name_first_transaction();
    }
}

void relay_machine::name_first_transaction() {
    const auto commit = intake_.open_commit();
    if (!watch_.first_transaction().comes(commit)) {
        return;
    }
    const auto xid = intake_.open_xid();
    log<"first_transaction">(
        "slot " + options_.slot + ": " +
            (xid ? "transaction " + std::to_string(*xid) + ", which commits"
                 : "the transaction that commits") +
            " at LSN " + to_string(commit) + ", is the first with a row that stream " +
            options_.stream + " is not known to have",
        with<"slot">(options_.slot), with<"lsn">(to_string(commit)), with<"xid">(xid));
}

void relay_machine::tell_of_sent_again() {
    const auto found = watch_.sent_again().met(intake_.already_stored());
    if (!found) {
        return;
    }
    const auto last = to_string(found->up_to);
    log<"sent_again">("slot " + options_.slot + " stood at LSN " + to_string(found->from) +
                          ", before the last message of stream " + options_.stream + ": " +
                          std::to_string(found->rows) +
                          " rows that the stream has were not published again; to publish them "
                          "again on purpose, while a bookmark or the trail reaches back to them: "
                          "walrelay replay --from " +
                          to_string(found->from) + " --until " + last + " --execute",
                      with<"slot">(options_.slot), with<"stream">(options_.stream),
                      with<"lsn">(found->from), with<"position">(last), with<"rows">(found->rows));
}

void relay_machine::take_frame(frame_read& read, instant now) {
    confirm_.reports().received(read.received);
    watch_.catching_up().received(read.received);
    if (read.remark) {
        log<"control_row_ignored">(std::move(*read.remark), with<"slot">(options_.slot));
    }
    if (read.left_out) {
        log<"message_left_out">("stream " + options_.stream +
                                    " has messages of later rows, but not that of row id " +
                                    *read.left_out +
                                    ": somebody else has written among its last messages; the rows "
                                    "that slot " +
                                    options_.slot + " sends are compared with them one by one",
                                with<"stream">(options_.stream), with<"slot">(options_.slot),
                                with<"id">(*read.left_out));
        lane_->distrust_tail();
        read_tail_again();
        return;
    }
    if (read.dead) {
        set_aside(std::move(*read.dead), now);
    }
    if (read.awaited) {
        const bool may_be_stored = read.awaited->reread;
        write_backs_.rows().await(std::move(*read.awaited));
        if (may_be_stored) {
            write_back_what_is_stored(now);
        }
    }
    if (read.incomplete) {
        question_.ask_for_row();
        auto& row = *read.incomplete;
        actions_.emplace_back(fetch_row{postgres_.epoch(), row.table, std::move(row.key), row.xid});
    }
    take_progress(read, now);
    if (!write_backs_.rows().has_room()) {
        // No further row may be read that would give the occasion: where the stream's last message
        // was met just now, all before it can be written back.
        write_back_what_is_stored(now);
    }
}

void relay_machine::take_progress(const frame_read& read, instant now) {
    if (read.ended) {
        watch_.transaction();
        if (read.ended->last_event) {
            write_backs_.rows().read_up_to(*read.ended->last_event);
        }
        confirm_.of_read().transaction_ended(read.ended->last_event, read.ended->last_published,
                                             read.ended->end);
        postgres_.progressed();
        account_for_stored(now);
    }
    if (read.alive) {
        if (!intake_.in_transaction()) {
            watch_.catching_up().alive(read.alive->end);
            if (confirm_.of_read().idle_at(read.alive->end)) {
                confirm_.reports().ask(now.monotonic);
            }
            account_for_stored(now);
        }
        if (read.alive->reply_requested) {
            confirm_.reports().requested(now.monotonic);
        }
    }
}

void relay_machine::frame_failed(const error& why, instant now) {
    if (why.code == errc::tail_not_met) {
        slot_has_gap(explain_not_met(why, options_.slot), now);
        return;
    }
    if (advice_for(why.code) == advice::this_message) {
        // What was read before this row is still delivered and confirmed.
        log<"halted_before_row">(to_string(why) +
                                     ". Stopping before this row (on_poison = \"halt\"); nothing "
                                     "is lost: the slot keeps it and everything after it",
                                 with<"error">(why.code));
        life_.note_halt(why, exit_operator_needed);
        drain(exit_operator_needed, now);
        return;
    }
    lose_postgres(why, now);
}

}  // namespace walrelay::relay
