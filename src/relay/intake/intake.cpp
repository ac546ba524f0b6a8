#include "relay/intake/intake.hpp"

#include "core/assert.hpp"
#include "core/control.hpp"
#include "core/first_revision.hpp"
#include "outbox/header_check.hpp"

#include <utility>

namespace walrelay::relay {

intake::intake(std::vector<outbox::table_mapper> mappers, intake_options options)
    : mappers_(std::move(mappers)),
      options_(std::move(options)),
      next_retry_revision_(first_revision::of_retries),
      received_(mappers_.size()) {
    for (std::size_t index = 0; index < mappers_.size(); ++index) {
        auto& mapper = mappers_[index];
        if (!options_.sole_writer) {
            mapper.keep_aggregates();
        }
        if (!mapper.message_prefix().empty()) {
            message_rows rows(mapper.table(), mapper.named_columns());
            tableless_.emplace(mapper.message_prefix(), tableless{index, std::move(rows)});
        }
    }
}

void intake::begin_history() {
    condemned_.clear();
    stored_.clear();
}

void intake::begin(history origin, table_catalog catalog) {
    dead_.clear();
    origin_ = origin;
    catalog_ = std::move(catalog);
    for (auto& mapper : mappers_) {
        mapper.set_domains(catalog_.domains());
    }
    transaction_.reset();
    unfinished_.reset();
    held_frame_.reset();
    in_snapshot_ = false;
    last_revision_ = 0;
    described_.assign(mappers_.size(), nullptr);
}

void intake::begin_snapshot(history origin, table_catalog catalog, lsn consistent_point,
                            wall_time taken_at) {
    begin(origin, std::move(catalog));
    in_snapshot_ = true;
    transaction_ = open_transaction{{before_slot(consistent_point), taken_at, {}}};
}

result<frame_read> intake::read_row(std::size_t mapper, const row_insert& row, lane& into) {
    WALRELAY_ASSERT(transaction_.has_value());
    frame_read done;
    transaction_->stand_at(transaction_->begin.commit);
    if (const auto taken = take_event(mapper, with_size(row), {}, into, done); !taken) {
        return taken.error();
    }
    return done;
}

frame_read intake::read_published_row(std::size_t mapper, const row_insert& row, lane& into) {
    WALRELAY_ASSERT(transaction_.has_value());
    frame_read done;
    transaction_->stand_at(transaction_->begin.commit);
    into.admit_settled({origin_, place()});
    transaction_->last_published = transaction_->at;
    await_write_back(mapper, row, false, true, done);
    return done;
}

frame_read intake::end_snapshot(lsn consistent_point) {
    WALRELAY_ASSERT(transaction_.has_value());
    frame_read done;
    done.ended = {transaction_->last_event, transaction_->last_published, consistent_point};
    transaction_.reset();
    return done;
}

std::vector<table_name> intake::begin_stream(history origin, table_catalog catalog,
                                             output_plugin plugin) {
    begin(origin, std::move(catalog));
    condemned_rows_.clear();
    auto settled = settle_asked();
    decoder_ = wal::make_decoder(plugin);
    decoder_->limit_rows(options_.max_row_bytes);
    plugin_ = plugin;
    watch_updates();
    return settled;
}

result<frame_read> intake::read(std::string_view frame, lane& into) {
    const auto parsed = wal::parse_frame(frame);
    if (!parsed) {
        return parsed.error();
    }
    if (const auto* const alive = std::get_if<wal::keepalive>(&*parsed)) {
        if (into.claim() && !transaction_ && alive->end > into.claim()->where.at.commit) {
            return tail_not_met(into);
        }
        frame_read done;
        done.alive = *alive;
        done.received = alive->end;
        return done;
    }
    auto done = take(std::get<wal::xlog_data>(*parsed), into);
    if (done && done->is_of_unknown_table) {
        if (frame.size() > options_.max_row_bytes) {
            return reread_for(unknown_table_);
        }
        held_frame_.emplace(frame);
    }
    return done;
}

result<frame_read> intake::take(const wal::xlog_data& data, lane& into) {
    WALRELAY_ASSERT(decoder_ != nullptr);
    const auto decoded = decoder_->decode(data.payload);
    if (!decoded) {
        error failure = decoded.error();
        failure.what = "at LSN " + to_string(data.start) + ": " + failure.what;
        return failure;
    }
    frame_read done;
    done.received = data.start;
    if (const auto* const begin = std::get_if<transaction_begin>(&*decoded)) {
        transaction_ = open_transaction{*begin};
    } else if (const auto* const commit = std::get_if<transaction_commit>(&*decoded)) {
        done.ended = {transaction_->last_event, transaction_->last_published, commit->end};
        transaction_.reset();
    } else if (!std::holds_alternative<nothing_to_relay>(*decoded)) {
        const auto stood_at = transaction_->at;
        transaction_->stand_at(data.start);
        if (const auto taken = take_change(*decoded, into, done); !taken) {
            return taken.error();
        }
        if (done.is_of_unknown_table) {
            transaction_->at = stood_at;
            return done;
        }
    }
    if (into.claim() && is_past_the_tail(*decoded, into)) {
        return tail_not_met(into);
    }
    if (transaction_) {
        done.age = data.sent_at - transaction_->begin.committed_at;
    }
    return done;
}

result<void> intake::take_change(const change& decoded, lane& into, frame_read& done) {
    WALRELAY_ASSERT(transaction_.has_value());
    if (const auto* const row = std::get_if<row_insert>(&decoded)) {
        return take(*row, into, done);
    }
    if (const auto* const changed = std::get_if<row_update>(&decoded)) {
        return take(*changed, into, done);
    }
    const auto* const said = std::get_if<logical_message>(&decoded);
    return said == nullptr ? result<void>{} : take(*said, into, done);
}

result<void> intake::take(const row_insert& row, lane& into, frame_read& done) {
    const auto owner = whose(*row.table, done);
    if (!owner) {
        return owner.error();
    }
    if (owner->what == table_catalog::answer::kind::control) {
        return take_control(row, into, done);
    }
    if (owner->what != table_catalog::answer::kind::outbox) {
        return {};
    }
    if (transaction_->own && is_moved_by_us(owner->index)) {
        return {};
    }
    return take_event(owner->index, row, {}, into, done);
}

result<void> intake::take(const logical_message& said, lane& into, frame_read& done) {
    WALRELAY_ASSERT(transaction_.has_value());
    const auto ours = tableless_.find(said.prefix);
    return ours == tableless_.end() ? result<void>{} : take_row(ours->second, said, into, done);
}

result<void> intake::take_row(tableless& from, const logical_message& said, lane& into,
                              frame_read& done) {
    if (said.too_large_bytes > 0) {
        const position where{origin_, place()};
        return set_message_aside(from, said, row_too_large("", where, said.too_large_bytes), into,
                                 done);
    }
    const auto row = from.rows.read(said.content);
    return row ? take_event(from.mapper, *row, {}, into, done)
               : set_message_aside(from, said, row.error(), into, done);
}

result<void> intake::set_message_aside(tableless& from, const logical_message& said,
                                       const error& why, lane& into, frame_read& done) {
    const auto here = place();
    if (into.covers(here)) {
        return {};
    }
    const message& unfilled = vacancy_for(here, into);
    const auto known = from.rows.unreadable(said.content);
    return said.too_large_bytes > 0
               ? set_aside_without_content(from.mapper, known, unfilled, why, done)
               : set_aside(from.mapper, known, unfilled, why, done);
}

result<void> intake::take_control(const row_insert& row, lane& into, frame_read& done) {
    if (row.too_large_bytes > 0) {
        done.remark = "a row of walrelay.control of " + std::to_string(row.too_large_bytes) +
                      " bytes is left alone: delivery.max_row_bytes is " +
                      std::to_string(options_.max_row_bytes);
        return {};
    }
    const auto said = read_control(row);
    if (said.slot && *said.slot != options_.slot) {
        return {};
    }
    if (said.kind == control_kind::own) {
        transaction_->own = true;
    } else if (said.kind == control_kind::retry) {
        return take_retry(said, into, done);
    }
    return {};
}

result<void> intake::take_retry(const control_row& said, lane& into, frame_read& done) {
    const auto request = retry_request::parse(said, next_retry_revision_++);
    if (!request) {
        done.remark = to_string(request.error()) + "; it is left alone";
        return {};
    }
    const auto owner = catalog_.find(request->table());
    if (owner.what != table_catalog::answer::kind::outbox) {
        done.remark = "a row of table " + to_string(request->table()) +
                      " is to be retried, but that is no outbox of the configuration now; it stays "
                      "in walrelay.dead_letter";
        return {};
    }
    return take_event(owner.index, request->row(), request->occasion(), into, done);
}

void intake::open_transaction::stand_at(lsn row) {
    const auto index = at && at->row == row ? at->index + 1 : 0;
    at = commit_position{begin.commit, row, index};
}

commit_position intake::place() {
    transaction_->last_event = transaction_->at;
    return *transaction_->at;
}

result<void> intake::take_event(std::size_t mapper, const row_insert& row,
                                std::string_view occasion, lane& into, frame_read& done) {
    return place_event(place(), mapper, row, occasion, into, done);
}

result<void> intake::place_event(commit_position here, std::size_t mapper, const row_insert& row,
                                 std::string_view occasion, lane& into, frame_read& done) {
    const bool retried = occasion.starts_with("retry");
    ++received_[mapper];
    if (into.covers(here)) {
        ++already_stored_;
        if (!is_dead(here)) {
            transaction_->last_published = here;
        }
        await_write_back(mapper, row, retried, true, done);
        return into.claim() ? pass_over(here, mapper, row, occasion, into, done) : result<void>{};
    }
    message& filled = vacancy_for(here, into);
    const auto made = fill(mapper, row, occasion, filled);
    if (stored_.contains(here) || into.has_acked(filled) ||
        (into.is_resuming() && into.has_stored(filled))) {
        ++already_stored_;
        into.admit_stored();
        transaction_->last_published = here;
        await_write_back(mapper, row, retried, true, done);
        return {};
    }
    if (row.too_large_bytes > 0) {
        return set_aside_without_content(
            mapper, row, filled, row_too_large(filled.id, filled.where, row.too_large_bytes), done);
    }
    if (!made) {
        return set_aside(mapper, row, filled, made.error(), done);
    }
    keep(mapper, row, into.vacant_row());
    into.admit();
    transaction_->last_published = here;
    await_write_back(mapper, row, retried, false, done);
    return {};
}

void intake::await_write_back(std::size_t mapper, const row_insert& row, bool retried, bool reread,
                              frame_read& done) {
    if (mapper >= options_.duties.size() || !options_.duties[mapper].writes_back) {
        return;
    }
    // A row without an id cannot be found again in its table.
    if (const auto key = mappers_[mapper].id_of(row)) {
        done.awaited = {mapper,  *transaction_->last_event, std::string(*key), reread,
                        retried, transaction_->begin.xid};
    }
}

message& intake::vacancy_for(commit_position here, lane& into) const {
    message& vacancy = into.vacancy();
    vacancy.where = {origin_, here};
    vacancy.committed_at = transaction_->begin.committed_at;
    vacancy.xid = transaction_->begin.xid;
    return vacancy;
}

result<void> intake::fill(std::size_t mapper, const row_insert& row, std::string_view occasion,
                          message& out) {
    const auto mapped = mappers_[mapper].map(row, out);
    // Also of a row that is not mapped to its end: it is known by its id.
    if (!occasion.empty() && !out.id.empty()) {
        out.id += ';';
        out.id += occasion;
    }
    if (!mapped) {
        return mapped;
    }
    if (auto sound = outbox::check_lines(out); !sound) {
        return sound;
    }
    if (auto fits = check_size(out); !fits) {
        return fits;
    }
    if (const auto* const found = condemnation_of(out)) {
        return found->why;
    }
    return {};
}

result<void> intake::set_aside(std::size_t mapper, const row_insert& row, const message& content,
                               const error& why, frame_read& done) {
    if (!options_.dead_letters) {
        return why;
    }
    condemnation reason{why, 0, 0};
    if (const auto* const found = condemnation_of(content)) {
        reason = *found;
    }
    done.dead = make_dead_letter(mappers_[mapper].table(), row, content, reason);
    done.dead->key = mappers_[mapper].id_of(row);
    return {};
}

}  // namespace walrelay::relay
