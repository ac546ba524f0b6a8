// The relay machine's part of the checkpoint: whether the stream's tail and the server's history
// belong together. The rules are those of relay/tail_trust and relay/stored_rows.

#include "core/progress.hpp"
#include "relay/machine/relay_machine.hpp"
#include "relay/machine/relay_words.hpp"

#include <algorithm>
#include <utility>

namespace walrelay::relay {
namespace {

error went_back(lsn ends, lsn known) {
    return {errc::tail_not_met,
            "the WAL of the server ends at LSN " + to_string(ends) +
                ", but this relay has read up to " + to_string(known) +
                " of it: the server was restored from a copy; nothing of it was published",
            how_to_accept_history};
}

constexpr const char* skips_what_is_shared =
    "what both have in common is skipped exactly, and what was read beyond that is dropped";
constexpr const char* knows_ids_alone =
    "rows that the slot sends again are recognised by Nats-Msg-Id alone";

std::string has_branched(const history& before, const lineage& line, std::optional<lsn> branch) {
    if (!branch) {
        return "the database has another history than before (system identifier or timeline "
               "changed): ";
    }
    return "the database is on timeline " + std::to_string(line.origin.timeline) +
           " now, which left timeline " + std::to_string(before.timeline) + " at LSN " +
           to_string(*branch) + ": ";
}

/// Where `line` left the timeline under which the stream was marked last; nothing if it did not.
std::optional<lsn> left_by(const std::optional<stream_owner>& mark, const lineage& line) {
    const bool is_older = mark && mark->system_identifier == line.origin.system_identifier &&
                          mark->timeline != 0 && mark->timeline != line.origin.timeline;
    return is_older ? line.end_of(mark->timeline) : std::nullopt;
}

}  // namespace

void relay_machine::begin_history(const lineage& line) {
    const auto [before, branch] = known_.begin_history(line);
    confirm_.begin_history();
    write_backs_.start_over();
    const bool went_on = branch && known_.timeline().may_have_gone_on();
    checkpoint_.place().begin_history(went_on ? checkpoint_.place().at_most() : branch);
    refusals_.forget_all();
    intake_.begin_history();
    lane_->set_history(line);
    startup_check_.begin_history(line);
    if (before != history{}) {
        const bool skips = branch && (options_.lane.sole_writer || lane_->admitted());
        log<"history_changed">(
            has_branched(before, line, branch) + (skips ? skips_what_is_shared : knows_ids_alone),
            with<"stream">(options_.stream));
    } else if (const auto left = left_by(mark_.known(), line)) {
        const history of_mark{line.origin.system_identifier, mark_.known()->timeline};
        log<"history_changed">(
            has_branched(of_mark, line, left) + "until now stream " + options_.stream +
                " was filled from that one (walrelay verify lists messages whose rows were lost)",
            with<"stream">(options_.stream));
    }
}

tail_question relay_machine::question_about(const server_identity& server,
                                            lsn slot_confirmed) const {
    return {lane_->opened_with(),
            options_.stream,
            mark_.known(),
            options_.rules,
            server,
            slot_confirmed,
            known_.accepts(server.line)};
}

lsn relay_machine::read_up_to() const {
    auto known = confirm_.held().confirmed();
    const auto& admitted = lane_->admitted();
    const auto& claim = lane_->claim();
    for (const auto commit :
         {admitted ? admitted->commit : lsn{}, claim ? claim->where.at.commit : lsn{}}) {
        // The record of a commit ends after where it begins.
        known = commit == lsn{} ? known : std::max(known, lsn{commit.value + 1});
    }
    return known;
}

std::optional<error> relay_machine::refuses_history_of(const postgres_session& session) const {
    if (known_.is_known() && !known_.accepts(session.server.line)) {
        if (auto refused = refuse_successor(known_.line(), session.server.line)) {
            return refused;
        }
    }
    const bool was_looked_at = lane_->is_open() || lane_->known_sequence() > 0;
    return was_looked_at ? refuse_history(question_about(session.server, session.slot_confirmed))
                         : std::nullopt;
}

bool relay_machine::joins_history(const postgres_session& session, instant now) {
    const bool is_another = session.server.line != known_.line();
    const bool slot_went_back =
        !session.rows_first && session.slot_confirmed < known_.slot_confirmed();
    if ((is_another || slot_went_back) && known_.is_known() && broker_.is_up()) {
        // What is on its way belongs to the old history, and what the tail was taken for counted on
        // where the slot stood: the tail tells what came of it.
        read_tail_again();
    }
    if (const auto refused = refuses_history_of(session)) {
        lose_postgres(*refused, now);
        return false;
    }
    if ((is_another || session.server.wal_end < startup_check_.until()) && known_.is_known()) {
        // The rows that it asks for may be of a server that was left, or restored.
        startup_check_.forget();
    }
    if (is_another) {
        begin_history(session.server.line);
    }
    if (const auto known = read_up_to(); known > session.server.wal_end) {
        lose_postgres(went_back(session.server.wal_end, known), now);
        return false;
    }
    if (!session.rows_first) {
        known_.note_beginning(session.slot_confirmed);
    }
    // Beside others there need not be a mark: then these are the rules since this relay began.
    const auto since = mark_.known() ? mark_.known()->since : known_.began_at().value_or(lsn{});
    const bool is_before_the_rules = session.slot_confirmed < since;
    const bool was_promoted = is_another && known_.line().origin != history{};
    if ((was_promoted && options_.lane.sole_writer) ||
        (slot_went_back && (options_.lane.sole_writer || is_before_the_rules))) {
        // The slot sends again what was taken for stored because it lay before the slot, also rows
        // of tables that were not configured then; and on the way to another timeline the database
        // can have been restored, and have used LSNs again.
        lane_->forget_proof();
        write_backs_.start_over();
    }
    known_.connected(session.server, session.database, session.slot_confirmed);
    mark_.taken_since(session.witness.tells_later_than == lsn{}
                          ? known_.slot_confirmed()
                          : std::min(known_.slot_confirmed(), session.witness.tells_later_than));
    return true;
}

bool relay_machine::trusts_tail(instant now) {
    if (lane_->claim() && lane_->claim()->where.at.commit < known_.slot_confirmed()) {
        // Another relay has met it, and moved the slot.
        lane_->claim_is_met();
    }
    if (!options_.lane.sole_writer || !lane_->is_open() ||
        lane_->belief() != tail_belief::undecided) {
        return true;
    }
    const auto answer = judge(question_about(known_.server(), known_.slot_confirmed()));
    switch (answer.what) {
        case tail_answer::kind::refused:
            lose_postgres(*answer.why, now);
            return false;
        case tail_answer::kind::compare:
            compare_stored(answer);
            break;
        case tail_answer::kind::exact:
            lane_->believe(tail_belief::exact);
            break;
        case tail_answer::kind::claim:
            lane_->believe(tail_belief::claim);
            break;
        case tail_answer::kind::nothing:
            tell_of_foreign_tail();
            lane_->believe(tail_belief::nothing);
            break;
    }
    return true;
}

/// The database is the one that the stream was filled from, by its mark, and the last message is
/// not of it.
void relay_machine::tell_of_foreign_tail() {
    const auto& mark = mark_.known();
    const auto& tail = lane_->opened_with();
    const auto& where = tail.checkpoint();
    const auto system = known_.server().line.origin.system_identifier;
    const bool is_foreign = where && where->origin.system_identifier != system;
    if (!is_foreign || !mark || mark->system_identifier != system ||
        !seen_.tells_of_stranger(tail.checkpoint_sequence())) {
        return;
    }
    log<"strangers_in_stream">(
        "the last message of stream " + options_.stream + ", at sequence " +
            std::to_string(tail.checkpoint_sequence()) + ", has a position of another database (" +
            to_string(*where) + "): somebody else has published it; what slot " + options_.slot +
            " sends again is recognised by Nats-Msg-Id alone, within the stream's duplicate "
            "window; allow only walrelay's user to publish on the stream's subjects",
        with<"stream">(options_.stream), with<"sequence">(tail.checkpoint_sequence()),
        with<"position">(to_string(*where)), with<"messages">(lane_->size()));
}

// Comparing.

void relay_machine::compare_stored(const tail_answer& answer) {
    const auto& known = mark_.known();
    const auto& seen = lane_->opened_with();
    const bool has_strangers = seen.shared || seen.mixed;
    stored_rows_request wanted{known_.slot_confirmed(),
                               known_.line(),
                               answer.compares_ids,
                               0,
                               0U,
                               known_.wal_end(),
                               2 * options_.lane.window_messages};
    // What was written back can have been of another history at the same place.
    write_backs_.start_over();
    if (known) {
        wanted.disordered_after = known->disordered_after;
        wanted.disordered_until = known->disordered_until;
    } else {
        wanted.disordered_until.reset();
    }
    auto mark = mark_now();
    if (known && !known->rules.empty()) {
        // Until all rows are compared, none of those before is known to have come by these rules:
        // where that is broken off, the slot can go past them.
        mark.since = has_new_tables() ? known_.wal_end() : known->since;
    }
    // Known until all rows are compared, also where that is broken off. A message of somebody else
    // can have had the place of a publish that was lost, and in a database that was restored new
    // rows can have LSNs that the stream has dropped.
    wanted.has_holes = has_new_tables() || came_before_the_rules() || has_strangers ||
                       known_.accepts(known_.line()) || (known && may_have_holes(*known));
    wanted.rows_of_tables = !known_.accepts(known_.line());
    mark.rules = rules_of_comparison(options_.rules, answer.compares_ids, wanted.has_holes);
    mark.disordered_after =
        disordered_from(known, known_.slot_confirmed(), lane_->known_sequence());
    mark.disordered_until.reset();
    comparing_.begin(std::move(wanted), answer.remark);
    change_mark(std::move(mark));
    read_stored_once_marked();
}

void relay_machine::read_stored_once_marked() {
    if (comparing_.waits_for_mark() && !mark_.is_on_its_way() && !mark_.is_stale()) {
        comparing_.mark_is_written();
        actions_.emplace_back(read_stored{postgres_.epoch(), comparing_.wanted()});
    }
}

void relay_machine::stored_read(std::uint64_t epoch,
                                const result<std::shared_ptr<const stored_rows>>& rows,
                                instant now) {
    if (epoch != postgres_.epoch() || !comparing_.is_reading() || is_closing()) {
        return;
    }
    if (!rows) {
        lose_postgres(rows.error(), now);
        return;
    }
    if (!lane_->is_open() || (*rows)->last_sequence() > lane_->known_sequence()) {
        // Written to meanwhile, which the tail must show first.
        stream_from_the_slot_again(now);
        return;
    }
    begin_comparing(*rows);
    account_for_stored(now);
}

void relay_machine::begin_comparing(const std::shared_ptr<const stored_rows>& rows) {
    comparing_.stream_is_read();
    const auto& orphaned = rows->orphaned();
    if (orphaned.count > 0) {
        log<"orphans_in_stream">(
            "stream " + options_.stream + " has " + counted(orphaned.count, "message") +
                " whose rows this database does not have: sequence " +
                std::to_string(orphaned.first_sequence) + " to " +
                std::to_string(orphaned.last_sequence) +
                ". They were committed on a server that was lost before they were replicated; "
                "consumers may have acted on them, walrelay verify lists them as orphaned",
            with<"stream">(options_.stream), with<"messages">(orphaned.count),
            with<"first_sequence">(orphaned.first_sequence),
            with<"last_sequence">(orphaned.last_sequence));
    }
    if (rows->floor()) {
        log<"comparison_shortened">(
            "stream " + options_.stream +
                " has dropped messages that are to be compared: rows before LSN " +
                to_string(rows->floor()->commit) + " are taken for published",
            with<"stream">(options_.stream), with<"lsn">(rows->floor()->commit));
    }
    log<"comparison_started">("comparing the rows that slot " + options_.slot + " sends with " +
                                  counted(rows->size(), "message") + " of stream " +
                                  options_.stream + ", because " + comparing_.why() +
                                  ": what the stream has is skipped, the rest is published",
                              with<"slot">(options_.slot), with<"stream">(options_.stream),
                              with<"messages">(rows->size()));
    lane_->resume(rows);
    end_comparing_when_over();
}

void relay_machine::end_comparing_when_over() {
    if (!comparing_.is_comparing() || !lane_->has_resumed()) {
        return;
    }
    const bool was_of_other_rules = comparing_.wanted().has_holes;
    comparing_.end();
    known_.accept_no_more();
    lane_->end_resuming(tail_belief::exact);
    const auto compared_up_to = lane_->stored_up_to().value_or(commit_position{}).commit;
    log<"comparison_done">("compared: stream " + options_.stream + " has all rows up to LSN " +
                               to_string(compared_up_to),
                           with<"stream">(options_.stream), with<"lsn">(compared_up_to));
    auto mark = mark_now();
    const auto& known = mark_.known();
    mark.since = known ? std::min(known->since, known_.slot_confirmed()) : mark.since;
    mark.disordered_after = known ? known->disordered_after : 0;
    mark.disordered_until = was_of_other_rules ? last_of_other_rules() : lane_->known_sequence();
    // Of rows that the slot has gone past meanwhile, some came after later ones as well.
    mark.disordered_below =
        std::max(lsn{lane_->stored_up_to().value_or(commit_position{}).commit.value + 1},
                 known_.slot_confirmed());
    change_mark(std::move(mark));
}

void relay_machine::give_comparing_up() {
    if (!comparing_.end() || is_closing()) {
        return;
    }
    // What is in the window has a place that the next try does not know.
    read_tail_again();
    lane_->start_over();
    lane_->end_resuming(tail_belief::undecided);
}

}  // namespace walrelay::relay
