// An event of a configured table takes its place in the lane, or is found to need none: the stream
// has it, or it cannot be delivered and becomes a dead letter. Pure.
//
// Knows the tables' mappers, what the broker takes, and what was decided about single rows. Where
// the events come from is not its matter: row, update, logical message, control row, snapshot.
#pragma once

#include "core/error.hpp"
#include "outbox/table_mapper.hpp"
#include "relay/intake/control_row.hpp"
#include "relay/intake/open_transaction.hpp"
#include "relay/intake/row_fates.hpp"
#include "relay/intake/size_limits.hpp"
#include "relay/intake/table_catalog.hpp"
#include "relay/intake/table_duties.hpp"
#include "relay/lane/lane.hpp"

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace walrelay::relay {

struct intake_options {
    /// Only for the size of headers.
    std::string stream;
    /// Rows that cannot be delivered become dead letters; otherwise they are errors.
    bool dead_letters = true;
    bool sole_writer = true;
    all_duties duties = {};
    std::string slot = {};
    /// A larger row becomes a dead letter without its content.
    std::uint64_t max_row_bytes = std::numeric_limits<std::uint64_t>::max();
};

/// A row that is to be a message.
struct outbox_event {
    /// Of the configuration.
    std::size_t table = 0;
    row_insert row;
    /// Of a row that is published again: follows the message id, after a semicolon.
    std::string_view occasion = {};
    /// Of a replayed row. Nothing is written back then, whatever becomes of it.
    const replay_mark* replay = nullptr;
};

/// Events of one table.
struct received_events {
    std::uint64_t rows = 0;
    /// Commit of the last one; 0 before the first, and of rows before the slot.
    wall_time last;
};

class event_placer {
public:
    /// `mappers` in the order of the configuration's tables. `options` must outlive this.
    event_placer(std::vector<outbox::table_mapper> mappers, const intake_options& options);

    /// A connection begins; positions are of `origin` from now on.
    void begin(history origin, const table_catalog& catalog, bool with_snapshot);
    /// Returns whether less is taken than before.
    bool set_limits(size_limits limits);
    [[nodiscard]] row_fates& fates() { return fates_; }

    /// The change that is being read is this event. Errors: without dead letters those of the row
    /// (row_unmappable, message_too_large, message_refused); tail_not_met.
    result<void> place(const reading& now, const outbox_event& event);
    /// The same, where it has its position already.
    result<void> place_at(commit_position here, const reading& now, const outbox_event& event);
    /// The stream has the row: it is only awaited for its write-back.
    void place_published(const reading& now, const outbox_event& event);

    /// Nothing is made of a row that cannot be published: it was read before, the stream has it, or
    /// it has its letter already. `known` is the lane's vacancy, as far filled as it could be; if
    /// this returns true, it is taken.
    [[nodiscard]] bool needs_no_letter(const message& known, const reading& now);
    /// `why` of a letter, and that its row may be in the stream where nothing but an id that is not
    /// known could tell.
    [[nodiscard]] error with_doubt(error why, const message& unfilled, const lane& into) const;
    /// The event is a dead letter for `why`. `content` is as far filled as it could be mapped.
    result<void> set_aside(const outbox_event& event, const message& content, const error& why,
                           frame_read& done);
    /// The dead letter tells of the row, whose content a retry reads from its table.
    result<void> set_aside_without_content(const outbox_event& event, const message& content,
                                           const error& why, frame_read& done);
    /// The dead letter of a message that the broker refuses, of the row that was kept of it.
    [[nodiscard]] dead_letter letter_of(const message& refused, const kept_row& row,
                                        const condemnation& reason);

    /// The lane's vacancy, with all that the open transaction says of the event there.
    message& vacancy_for(commit_position here, const reading& now) const;
    result<void> fill(const outbox_event& event, message& out);
    /// A replayed row that no table of the configuration takes is a dead letter, for `why`; without
    /// its content where it is too large.
    result<void> set_stranger_aside(const table_name& table, const row_insert& row,
                                    const error& why, const reading& now);
    /// What a row of walrelay.control asks for is not done, for `why`: the dead letter that is to
    /// be retried is open again, with its content as it is. Also where rows become no dead letters:
    /// this one is one.
    void decline_retry(const letter_retry& which, const table_name& table, const error& why,
                       const reading& now);
    /// The row with too_large_bytes, where it is.
    [[nodiscard]] row_insert with_size(row_insert row) const;
    /// `id` is empty where it is not known.
    [[nodiscard]] error row_too_large(std::string_view id, commit_position where,
                                      std::uint64_t bytes) const;

    [[nodiscard]] std::vector<outbox::table_mapper>& mappers() { return mappers_; }
    [[nodiscard]] const std::vector<outbox::table_mapper>& mappers() const { return mappers_; }
    /// Events that were read, by table of the configuration.
    [[nodiscard]] const std::vector<received_events>& received() const { return received_; }
    /// Those of them that the stream or the window had already.
    [[nodiscard]] std::uint64_t already_stored() const { return already_stored_; }

private:
    [[nodiscard]] bool is_stored(const message& filled, const reading& now);
    [[nodiscard]] bool is_dead(commit_position here, const reading& now) const;
    /// An event that the stream has.
    result<void> pass_over(commit_position here, const reading& now, const outbox_event& event);
    result<void> map_replayed(const outbox_event& event, message& out);
    [[nodiscard]] result<void> give_subject(const replay_mark& mark, message& out) const;
    void await_write_back(const reading& now, const outbox_event& event, bool reread);
    void keep(const outbox_event& event, kept_row& into);

    std::vector<outbox::table_mapper> mappers_;
    const intake_options& options_;
    row_fates fates_;
    size_limits limits_;
    history origin_;
    bool in_snapshot_ = false;
    /// By table: that of its last row.
    std::vector<std::shared_ptr<const relation>> described_;
    std::vector<received_events> received_;
    std::uint64_t already_stored_ = 0;
};

}  // namespace walrelay::relay
