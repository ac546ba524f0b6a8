#include "relay/intake/intake.hpp"

#include "core/assert.hpp"
#include "core/first_revision.hpp"
#include "relay/confirm/ledger.hpp"
#include "relay/intake/tail_meeting.hpp"

#include <utility>

namespace walrelay::relay {

intake::intake(std::vector<outbox::table_mapper> mappers, intake_options options)
    : options_(std::move(options)),
      events_(std::move(mappers), options_),
      tables_(events_.mappers(), options_.slot),
      rows_(events_, tables_, options_),
      updates_(events_, tables_, options_),
      messages_(events_),
      snapshot_(events_),
      next_fetched_revision_(first_revision::of_fetched_rows) {}

void intake::begin(history origin, table_catalog catalog, bool with_snapshot) {
    tables_.begin(std::move(catalog));
    events_.begin(origin, tables_.catalog(), with_snapshot);
    updates_.begin();
    transaction_.reset();
    held_frame_.reset();
}

void intake::begin_snapshot(history origin, table_catalog catalog, lsn consistent_point,
                            wall_time taken_at) {
    begin(origin, std::move(catalog), true);
    transaction_ = snapshot_source::begin(consistent_point, taken_at);
}

result<frame_read> intake::read_row(std::size_t mapper, const row_insert& row, lane& into) {
    WALRELAY_ASSERT(transaction_.has_value());
    frame_read done;
    if (const auto taken = snapshot_.take(mapper, row, {*transaction_, into, done}); !taken) {
        return taken.error();
    }
    return done;
}

frame_read intake::read_published_row(std::size_t mapper, const row_insert& row, lane& into) {
    WALRELAY_ASSERT(transaction_.has_value());
    frame_read done;
    snapshot_.take_published(mapper, row, {*transaction_, into, done});
    return done;
}

frame_read intake::end_snapshot(lsn consistent_point) {
    WALRELAY_ASSERT(transaction_.has_value());
    frame_read done;
    done.ended = transaction_->ended_at(consistent_point);
    transaction_.reset();
    return done;
}

std::vector<table_name> intake::begin_stream(history origin, table_catalog catalog,
                                             output_plugin plugin) {
    begin(origin, std::move(catalog), false);
    events_.fates().end_snapshot();
    frames_.emplace(plugin);
    frames_->by().limit_rows(options_.max_row_bytes);
    auto settled = tables_.begin_stream(plugin);
    updates_.watch(frames_->by());
    return settled;
}

result<frame_read> intake::read(std::string_view frame, lane& into, frame_owner* owner) {
    WALRELAY_ASSERT(frames_.has_value());
    const auto parsed = wal::parse_frame(frame);
    if (!parsed) {
        return parsed.error();
    }
    if (const auto* const alive = std::get_if<wal::keepalive>(&*parsed)) {
        if (into.claim() && !transaction_ && alive->end > into.claim()->where.at.commit) {
            return tail_not_met(*into.claim(), options_.stream);
        }
        frames_->read(*alive);
        frame_read done;
        done.alive = *alive;
        done.received = alive->end;
        return done;
    }
    const bool is_large = frame.size() >= large_frame_bytes;
    auto done = take(std::get<wal::xlog_data>(*parsed), into, is_large ? owner : nullptr);
    const bool is_gone = is_large && owner != nullptr && frames_->by().outlives_payload();
    if (done && done->is_of_unknown_table) {
        if (is_gone || frame.size() > options_.max_row_bytes) {
            return reread_for(unknown_table());
        }
        held_frame_.emplace(frame);
    }
    if (is_large) {
        frames_->by().let_go();
    }
    return done;
}

result<frame_read> intake::take(const wal::xlog_data& data, lane& into, frame_owner* owner) {
    const auto decoded = frames_->read(data);
    if (!decoded) {
        return decoded.error();
    }
    if (owner != nullptr && frames_->by().outlives_payload()) {
        owner->let_go();
    }
    frame_read done;
    done.received = data.start;
    if (const auto* const begin = std::get_if<transaction_begin>(&*decoded)) {
        transaction_ = open_transaction{*begin};
    } else if (const auto* const commit = std::get_if<transaction_commit>(&*decoded)) {
        done.ended = transaction_->ended_at(commit->end);
        transaction_.reset();
    } else if (!std::holds_alternative<nothing_to_relay>(*decoded)) {
        const auto stood_at = transaction_->at;
        transaction_->stand_at(data.start);
        if (const auto taken = take_change(*decoded, {*transaction_, into, done}); !taken) {
            return taken.error();
        }
        if (done.is_of_unknown_table) {
            transaction_->at = stood_at;
            return done;
        }
    }
    if (into.claim() && is_past_the_tail(*decoded, transaction_, into.claim()->where.at)) {
        return tail_not_met(*into.claim(), options_.stream);
    }
    if (transaction_) {
        done.age = data.sent_at - transaction_->begin.committed_at;
    }
    return done;
}

result<void> intake::take_change(const change& decoded, const reading& now) {
    if (const auto* const row = std::get_if<row_insert>(&decoded)) {
        return rows_.take(*row, now);
    }
    if (const auto* const changed = std::get_if<row_update>(&decoded)) {
        return updates_.take(*changed, now);
    }
    const auto* const said = std::get_if<logical_message>(&decoded);
    return said == nullptr ? result<void>{} : messages_.take(*said, now);
}

result<frame_read> intake::settle_unknown(bool exists, lane& into) {
    WALRELAY_ASSERT(held_frame_.has_value());
    const auto frame = std::move(*held_frame_);
    held_frame_.reset();
    tables_.learn_unknown(exists);
    return read(frame, into);
}

result<frame_read> intake::complete(std::optional<table_row> fetched, lane& into) {
    WALRELAY_ASSERT(transaction_.has_value());
    frame_read done;
    const auto taken = updates_.complete(std::move(fetched), next_fetched_revision_++,
                                         {*transaction_, into, done});
    if (!taken) {
        return taken.error();
    }
    return done;
}

dead_letter intake::set_aside(const message& refused, const kept_row& row,
                              const condemnation& reason, std::optional<commit_position> before) {
    if (transaction_ && transaction_->last_published == refused.where.at) {
        transaction_->last_published = last_published_without(refused.where.at, before);
    }
    return events_.letter_of(refused, row, reason);
}

}  // namespace walrelay::relay
