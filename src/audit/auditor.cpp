#include "audit/auditor.hpp"

#include "audit/printable.hpp"
#include "core/assert.hpp"
#include "core/occasion.hpp"
#include "core/progress.hpp"

#include <algorithm>
#include <utility>

namespace walrelay::audit {
namespace {

// For an id like a UUID, which is 36 bytes of text.
constexpr std::uint64_t row_bytes = 46;
constexpr std::uint64_t message_bytes = 52;
constexpr std::size_t unseen_limit = 250'000;

std::uint64_t expected_bytes(const audit_options& options) {
    return options.expected_rows * row_bytes + options.expected_messages * message_bytes;
}

store_shape shape_for(const audit_options& options) {
    constexpr unsigned least_bits = 4;
    constexpr unsigned most_bits = 10;
    const auto wanted_bytes = std::max<std::uint64_t>(options.bucket_bytes / 3, 1);
    auto bits = least_bits;
    while (bits < most_bits && (expected_bytes(options) >> bits) > wanted_bytes) {
        ++bits;
    }
    return {bits, 0, options.chunk_bytes};
}

/// Room for the few that are split or stay open as well.
std::uint64_t needed_bytes(const audit_options& options) {
    constexpr std::uint64_t reserve_divisor = 4;
    return expected_bytes(options) + expected_bytes(options) / reserve_divisor;
}

/// How many copies too many there are. Those from before what is compared count as one, and only
/// beside one that is compared.
/// `orphans` of the messages are of rows that are lost.
std::uint64_t extra_copies(const id_facts& facts, std::uint64_t orphans) {
    const auto compared = facts.messages - orphans + (facts.rows > 0 ? facts.strangers : 0);
    const auto all = compared + (compared > 0 && facts.earlier > 0 ? 1 : 0);
    return all - std::min(all, std::max<std::uint64_t>(facts.rows, 1));
}

/// Of the rows of an id that no message stands for.
struct open_rows_of_id {
    std::uint64_t dead = 0;
    std::uint64_t awaited = 0;
    std::uint64_t left = 0;
};

open_rows_of_id open_of(const id_facts& facts) {
    // A stranger's message that came since may be that of a row which is settled already.
    const auto unsent = facts.rows - std::min(facts.rows, facts.copies() + facts.republications);
    open_rows_of_id open;
    open.dead = std::min(unsent, facts.dead_letters);
    open.awaited = std::min(unsent - open.dead, facts.awaited);
    open.left = unsent - open.dead - open.awaited;
    return open;
}

}  // namespace

result<std::unique_ptr<auditor>> auditor::make(audit_options options) {
    auto file = spill_file::make(options.folder, needed_bytes(options));
    if (!file) {
        return file.error();
    }
    return std::unique_ptr<auditor>(new auditor(std::move(options), std::move(*file)));
}

auditor::auditor(audit_options options, spill_file file)
    : options_(std::move(options)),
      file_(std::move(file)),
      gathered_(file_, shape_for(options_)),
      named_(all_finding_kinds.size(), first_few(options_.named_limit)),
      without_id_(options_.tables.size()),
      begun_(options_.since == lsn{}) {
    if (options_.excuses_removed) {
        removed_.emplace(options_.tables.size());
    }
}

result<void> auditor::add_row(std::uint32_t table, std::string_view id, row_age age) {
    WALRELAY_ASSERT(!open_ && table < options_.tables.size());
    if (removed_) {
        removed_->add(table, age);
    }
    return gathered_.add({record_kind::row, ++report_.rows, table, {}, id});
}

void auditor::add_row_without_id(std::uint32_t table, std::string_view reason, row_age age) {
    WALRELAY_ASSERT(!open_ && table < options_.tables.size());
    ++report_.rows;
    if (removed_) {
        removed_->add(table, age);
    }
    if (without_id_[table].rows++ == 0) {
        without_id_[table].first_reason = reason;
    }
}

void auditor::follow_sequence(std::uint64_t sequence) {
    if (report_.messages++ == 0) {
        report_.first_sequence = sequence;
    } else {
        report_.deleted_messages += sequence - last_sequence_ - 1;
    }
    last_sequence_ = sequence;
}

result<void> auditor::add_message(const streamed_message& one) {
    WALRELAY_ASSERT(one.sequence > last_sequence_);
    follow_sequence(one.sequence);
    const auto where = parse_position(one.position);
    begun_ = begun_ || (where && where->at.commit >= options_.since);
    if (!begun_) {
        ++report_.earlier;
        return one.id.empty() ? result<void>{}
                              : add_copy({record_kind::earlier, one.sequence, 0, {}, one.id});
    }
    if (!where || one.id.empty()) {
        return add_stranger(one, where.has_value());
    }
    if (const auto before = order_.add(one.sequence, *where); before && !options_.others_write) {
        note_disorder(one, *before);
    }
    return add_copy({record_kind::message, one.sequence, order_.last_history(), where->at, one.id});
}

result<void> auditor::add_copy(const record& kept) {
    if (open_) {
        forget_unseen(kept.id);
    }
    if (auto added = current().add(kept); !added) {
        return added;
    }
    return kept.kind == record_kind::stranger ? result<void>{} : add_republications(kept);
}

/// One with an id can be that of a row: that is known once all rows are.
result<void> auditor::add_stranger(const streamed_message& one, bool has_position) {
    if (!one.id.empty()) {
        return add_copy({record_kind::stranger, one.sequence, 0, {}, one.id});
    }
    if (!options_.others_write) {
        note_foreign(one, has_position ? "no Nats-Msg-Id" : "no Walrelay-Position");
    }
    return {};
}

result<void> auditor::add_republications(record one) {
    one.kind = record_kind::republication;
    result<void> added;
    for_each_republished_id(one.id, [&](std::string_view row) {
        one.id = row;
        if (open_) {
            forget_unseen(row);
        }
        added = added ? current().add(one) : added;
    });
    return added;
}

void auditor::set_history(lineage line, lsn wal_end) {
    line_ = std::move(line);
    wal_end_ = wal_end;
    report_.history_known = true;
}

bool auditor::is_orphan(const record& message) const {
    if (!line_ || message.kind != record_kind::message) {
        return false;
    }
    const position where{order_.history_at(message.group), message.at};
    if (where.origin.system_identifier != line_->origin.system_identifier) {
        return false;
    }
    if (where.origin.timeline == line_->origin.timeline) {
        return where.at.commit >= wal_end_;
    }
    return line_->has_left(where);
}

std::uint64_t auditor::note_orphans(std::string_view id, const id_facts& facts) {
    const bool first = is_orphan(facts.first_message);
    const bool last = is_orphan(facts.last_message);
    if (!first && !last) {
        return 0;
    }
    const auto count = first && last ? facts.messages : std::uint64_t{1};
    const auto& from = first ? facts.first_message : facts.last_message;
    const auto& to = last ? facts.last_message : facts.first_message;
    note(finding_kind::orphaned, count);
    report_.first_orphan =
        report_.first_orphan == 0 ? from.number : std::min(report_.first_orphan, from.number);
    report_.last_orphan = std::max(report_.last_orphan, to.number);
    auto& named_ones = named(finding_kind::orphaned);
    if (named_ones.wants(from.number)) {
        named_ones.add(from.number, {{}, printable(id), from.number, position_of(from), {}});
    }
    return count;
}

result<void> auditor::sift() {
    WALRELAY_ASSERT(!open_);
    if (auto written = gathered_.finish(); !written) {
        return written;
    }
    open_.emplace(file_, store_shape{4, 0, options_.chunk_bytes});
    auto sifted = for_each_id(
        gathered_, file_, options_.bucket_bytes,
        [this](std::string_view id, const id_facts& facts) { return sift_id(id, facts); });
    for (const auto& each : without_id_) {
        open_rows_ += each.rows;
        unseen_is_whole_ = unseen_is_whole_ && each.rows == 0;
    }
    report_.without_row +=
        rowless_with_semicolon_ - std::min(rowless_with_semicolon_, report_.republished);
    return sifted;
}

result<void> auditor::sift_id(std::string_view id, const id_facts& facts) {
    // A row of the same id can have come since, and is another one.
    const auto orphans = note_orphans(id, facts);
    const auto copies = facts.copies() - orphans;
    if (facts.rows == 0) {
        note_strangers(id, facts);
    } else {
        report_.by_others += facts.strangers;
        if (removed_ && copies + facts.republications > 0) {
            removed_->is_stored(facts.last_row);
        }
    }
    if (extra_copies(facts, orphans) > 0) {
        note_twice(id, facts, extra_copies(facts, orphans));
    }
    const auto left = facts.rows == 0 ? facts.messages - orphans : 0;
    if (facts.rows > 0) {
        report_.republished += facts.republications;
    } else if (left > 0 && id.find(occasion_mark) == std::string_view::npos) {
        report_.without_row += left;
    } else if (left + facts.earlier > 0) {
        rowless_with_semicolon_ += left;
        auto rest = facts.first_message;
        rest.id = id;
        return add_republications(rest);
    }
    auto row = facts.last_row;
    row.id = id;
    for (auto open = facts.rows; open > copies; --open) {
        ++open_rows_;
        if (auto added = open_->add(row); !added) {
            return added;
        }
    }
    if (facts.rows > copies && facts.republications == 0) {
        unseen_is_whole_ = unseen_is_whole_ && unseen_.size() < unseen_limit;
        if (unseen_is_whole_) {
            unseen_.insert(hash_of(id));
        }
    }
    return {};
}

bool auditor::seems_settled() const {
    return open_rows_ == 0 || (unseen_is_whole_ && unseen_.empty());
}

void auditor::forget_unseen(std::string_view id) {
    unseen_.erase(hash_of(id));
}

result<void> auditor::add_dead_letter(std::optional<std::uint32_t> table, std::string_view id) {
    WALRELAY_ASSERT(open_.has_value());
    if (!id.empty()) {
        forget_unseen(id);
        return open_->add({record_kind::dead_letter, 0, 0, {}, id});
    }
    if (table) {
        ++without_id_[*table].dead_letters;
    }
    return {};
}

result<void> auditor::add_awaited(std::string_view id) {
    WALRELAY_ASSERT(open_.has_value());
    return open_->add({record_kind::awaited, 0, 0, {}, id});
}

result<report> auditor::conclude(finding_kind open_ones) {
    WALRELAY_ASSERT(open_.has_value());
    auto concluded = open_->finish();
    if (concluded) {
        concluded = choose_removed(open_ones);
    }
    if (concluded) {
        concluded = for_each_id(*open_, file_, options_.bucket_bytes,
                                [&](std::string_view id, const id_facts& facts) -> result<void> {
                                    conclude_id(id, facts, open_ones);
                                    return {};
                                });
    }
    if (!concluded) {
        return concluded.error();
    }
    conclude_rows_without_id(open_ones);
    for (const auto kind : all_finding_kinds) {
        report_.of(kind).named = named(kind).take();
    }
    return std::move(report_);
}

/// Which they are is known once all open rows are.
result<void> auditor::choose_removed(finding_kind open_ones) {
    if (!removed_ || removed_messages_ == 0 || open_ones != finding_kind::missing) {
        return {};
    }
    auto looked = for_each_id(*open_, file_, options_.bucket_bytes,
                              [&](std::string_view /*id*/, const id_facts& facts) -> result<void> {
                                  if (facts.rows == 1 && open_of(facts).left == 1) {
                                      removed_->is_open(facts.last_row);
                                  }
                                  return {};
                              });
    removed_->choose(removed_messages_);
    return looked;
}

void auditor::conclude_id(std::string_view id, const id_facts& facts, finding_kind open_ones) {
    const auto open = open_of(facts);
    report_.dead_lettered += open.dead;
    note_open(id, facts, finding_kind::undelivered, open.awaited);
    if (removed_ && facts.rows == 1 && open.left == 1 && removed_->has(facts.last_row)) {
        ++report_.removed_rows;
        return;
    }
    note_open(id, facts, open_ones, open.left);
}

void auditor::note_open(std::string_view id, const id_facts& facts, finding_kind kind,
                        std::uint64_t rows) {
    if (rows == 0) {
        return;
    }
    note(kind, rows);
    if (named(kind).wants(facts.last_row.number)) {
        finding one{options_.tables[facts.last_row.group], printable(id)};
        one.detail = rows > 1 ? std::to_string(rows) + " rows have this id" : "";
        one.message_id = id;
        named(kind).add(facts.last_row.number, std::move(one));
    }
}

void auditor::conclude_rows_without_id(finding_kind open_ones) {
    for (std::size_t table = 0; table < without_id_.size(); ++table) {
        const auto& each = without_id_[table];
        const auto dead = std::min(each.rows, each.dead_letters);
        report_.dead_lettered += dead;
        const auto awaited = std::min(each.rows - dead, each.awaited);
        note_rows_without_id(table, awaited, finding_kind::undelivered);
        note_rows_without_id(table, each.rows - dead - awaited, open_ones);
    }
}

void auditor::note_rows_without_id(std::size_t table, std::uint64_t rows, finding_kind kind) {
    if (rows == 0) {
        return;
    }
    note(kind, rows);
    finding one{options_.tables[table]};
    const auto& all = without_id_[table];
    one.detail = counted(all.rows, "row") +
                 (all.rows == 1 ? " has no message id: " : " have no message id, the first: ") +
                 all.first_reason;
    one.rows = rows;
    named(kind).add(0, std::move(one));
}

void auditor::note_foreign(const streamed_message& one, std::string_view what) {
    note(finding_kind::foreign, 1);
    if (named(finding_kind::foreign).wants(one.sequence)) {
        named(finding_kind::foreign)
            .add(one.sequence, {{},
                                printable(one.id),
                                one.sequence,
                                printable(one.position),
                                std::string(what) + ", subject " + printable(one.subject)});
    }
}

void auditor::note_strangers(std::string_view id, const id_facts& facts) {
    if (options_.others_write || facts.strangers == 0) {
        return;
    }
    if (options_.some_rows) {
        report_.not_judged += facts.strangers;
        return;
    }
    note(finding_kind::foreign, facts.strangers);
    const auto sequence = facts.last_message.number;
    if (named(finding_kind::foreign).wants(sequence)) {
        named(finding_kind::foreign)
            .add(sequence,
                 {{}, printable(id), sequence, {}, "no Walrelay-Position, and no row has this id"});
    }
}

void auditor::note_disorder(const streamed_message& one,
                            const order_check::message_before& before) {
    note(finding_kind::out_of_order, 1);
    if (named(finding_kind::out_of_order).wants(one.sequence)) {
        record earlier{record_kind::message};
        earlier.group = order_.last_history();
        earlier.at = before.at;
        named(finding_kind::out_of_order)
            .add(one.sequence, {{},
                                printable(one.id),
                                one.sequence,
                                std::string(one.position),
                                "after sequence " + std::to_string(before.sequence) +
                                    " at position " + position_of(earlier)});
    }
}

void auditor::note_twice(std::string_view id, const id_facts& facts, std::uint64_t extra) {
    note(finding_kind::twice, extra);
    const auto sequence = facts.last_message.number;
    if (named(finding_kind::twice).wants(sequence)) {
        auto table = facts.rows > 0 ? options_.tables[facts.last_row.group] : std::string();
        const auto first = position_of(facts.first_message);
        named(finding_kind::twice)
            .add(sequence,
                 {std::move(table), printable(id), sequence, position_of(facts.last_message),
                  "first at sequence " + std::to_string(facts.first_message.number) +
                      (first.empty() ? ", not by walrelay" : ", position " + first)});
    }
}

std::string auditor::position_of(const record& message) const {
    return message.kind == record_kind::message
               ? to_string(position{order_.history_at(message.group), message.at})
               : std::string();
}

}  // namespace walrelay::audit
