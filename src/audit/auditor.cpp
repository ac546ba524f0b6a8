#include "audit/auditor.hpp"

#include "audit/printable.hpp"
#include "core/assert.hpp"
#include "core/occasion.hpp"
#include "core/progress.hpp"

#include <algorithm>
#include <tuple>
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
std::uint64_t extra_copies(const id_facts& facts) {
    const auto compared = facts.messages + (facts.rows > 0 ? facts.strangers : 0);
    const auto all = compared + (compared > 0 && facts.earlier > 0 ? 1 : 0);
    return all - std::min(all, std::max<std::uint64_t>(facts.rows, 1));
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
        [this](std::string_view id, id_facts& facts) { return sift_id(id, facts); },
        [this](const record& row, id_facts& facts) { return sift_row(row, facts); });
    for (const auto& each : without_id_) {
        open_rows_ += each.rows;
        unseen_is_whole_ = unseen_is_whole_ && each.rows == 0;
    }
    report_.without_row +=
        rowless_with_semicolon_ - std::min(rowless_with_semicolon_, report_.republished);
    return sifted;
}

result<void> auditor::sift_id(std::string_view id, id_facts& facts) {
    // A row of the same id can have come since, and is another one.
    facts.messages -= note_orphans(id, facts);
    const auto copies = facts.copies();
    if (facts.rows == 0) {
        note_strangers(id, facts);
    } else {
        report_.by_others += facts.strangers;
    }
    if (const auto extra = extra_copies(facts); extra > 0) {
        note_twice(id, facts, extra);
    }
    if (facts.rows > 0) {
        report_.republished += facts.republications;
    } else if (facts.messages > 0 && id.find(occasion_mark) == std::string_view::npos) {
        report_.without_row += facts.messages;
    } else if (facts.messages + facts.earlier > 0) {
        rowless_with_semicolon_ += facts.messages;
        auto rest = facts.first_message;
        rest.id = id;
        return add_republications(rest);
    }
    if (facts.rows > copies) {
        open_rows_ += facts.rows - copies;
        if (facts.republications == 0) {
            add_unseen(id);
        }
    }
    if (facts.rows == 1) {
        auto row = facts.last_row;
        row.id = id;
        return sift_row(row, facts);
    }
    return {};
}

/// Which of several rows of an id are open is known at the end: all of them, and their copies,
/// are kept for it.
result<void> auditor::sift_row(const record& row, id_facts& facts) {
    const auto left = facts.unanswered();
    std::ignore = facts.next_holder(row.group);
    if (removed_ && left <= facts.all_copies()) {
        removed_->is_stored(row);
    }
    if (facts.rows <= facts.copies()) {
        return {};
    }
    if (auto added = open_->add(row); !added || left > facts.copies()) {
        return added;
    }
    return open_->add({record_kind::message, 0, 0, {}, row.id});
}

void auditor::add_unseen(std::string_view id) {
    unseen_is_whole_ = unseen_is_whole_ && unseen_.size() < unseen_limit;
    if (unseen_is_whole_) {
        unseen_.insert(hash_of(id));
    }
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
        return open_->add({record_kind::dead_letter, 0, table.value_or(any_table), {}, id});
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
        concluded = for_each_open_row(
            [&](const record& row, id_facts& facts) { conclude_row(row, facts, open_ones); });
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
    const auto from_the_middle = are_replaced_ ? report_.deleted_messages : 0;
    if (!removed_ || removed_messages_ + from_the_middle == 0 ||
        open_ones != finding_kind::missing) {
        return {};
    }
    auto looked = for_each_open_row([this](const record& row, id_facts& facts) {
        if (facts.next_holder(row.group) == row_holder::nothing) {
            removed_->is_open(row);
        }
    });
    removed_->choose(removed_messages_, from_the_middle);
    return looked;
}

result<void> auditor::for_each_open_row(
    const std::function<void(const record& row, id_facts& facts)>& visit) {
    return for_each_id(
        *open_, file_, options_.bucket_bytes,
        [&](std::string_view id, id_facts& facts) -> result<void> {
            if (facts.rows == 1) {
                auto row = facts.last_row;
                row.id = id;
                visit(row, facts);
            }
            return {};
        },
        [&](const record& row, id_facts& facts) -> result<void> {
            visit(row, facts);
            return {};
        });
}

void auditor::conclude_row(const record& row, id_facts& facts, finding_kind open_ones) {
    switch (facts.next_holder(row.group)) {
        case row_holder::message:
            break;
        case row_holder::dead_letter:
            ++report_.dead_lettered;
            break;
        case row_holder::slot:
            note_open(row, facts, finding_kind::undelivered);
            break;
        case row_holder::nothing:
            if (removed_ && removed_->has(row)) {
                ++report_.removed_rows;
            } else {
                note_open(row, facts, open_ones);
            }
            break;
    }
}

void auditor::note_open(const record& row, const id_facts& facts, finding_kind kind) {
    note(kind, 1);
    if (named(kind).wants(row.number)) {
        finding one{options_.tables[row.group], printable(row.id)};
        one.detail =
            facts.rows > 1 ? "one of " + std::to_string(facts.rows) + " rows with this id" : "";
        one.message_id = row.id;
        named(kind).add(row.number, std::move(one));
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
