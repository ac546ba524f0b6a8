// The intake's rows that cannot become messages: too large for the broker, refused by it, or dead
// letters already.

#include "relay/confirm/ledger.hpp"
#include "relay/intake/intake.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace walrelay::relay {
namespace {

error too_large(const message& content, std::uint64_t size, std::uint64_t limit,
                const char* limit_name, const char* remedy) {
    return {errc::message_too_large,
            "the message of row id " + content.id + " (position " + to_string(content.where) +
                ", subject " + content.subject + ") has " + std::to_string(size) +
                " bytes with its headers, more than " + limit_name + " = " + std::to_string(limit),
            remedy};
}

const condemnation& already_dead() {
    static const condemnation reason{
        {errc::message_refused, "the row is a dead letter already",
         "walrelay dead-letter retry, once what was wrong with it is corrected"},
        0,
        0};
    return reason;
}

}  // namespace

std::uint64_t wire_bytes(const message& content, std::string_view stream) {
    constexpr std::uint64_t frame = sizeof "NATS/1.0\r\n" - 1 + sizeof "\r\n" - 1;
    constexpr std::uint64_t around = sizeof ": \r\n" - 1;
    constexpr std::uint64_t sequence_digits = 20;
    std::uint64_t total = frame + content.body.size();
    total += sizeof "Nats-Msg-Id" - 1 + around + content.id.size();
    total += sizeof "Nats-Expected-Stream" - 1 + around + stream.size();
    total += sizeof "Nats-Expected-Last-Sequence" - 1 + around + sequence_digits;
    for (std::size_t index = 0; index < content.header_count(); ++index) {
        const auto& each = content.header_at(index);
        total += each.name.size() + around + each.value.size();
    }
    return total;
}

bool intake::set_limits(size_limits limits) {
    const auto before = std::exchange(limits_, limits);
    const auto least = [](const size_limits& of) {
        constexpr auto unlimited = std::numeric_limits<std::uint64_t>::max();
        const auto payload = of.max_payload_bytes == 0 ? unlimited : of.max_payload_bytes;
        const auto message = static_cast<std::uint64_t>(of.max_message_bytes);  // -1 is the most
        return std::min(payload, message);
    };
    return least(limits_) < least(before);
}

void intake::condemn(commit_position where, condemnation reason) {
    condemned_.insert_or_assign(where, std::move(reason));
}

void intake::keep_dead(std::vector<commit_position> letters) {
    dead_ = std::move(letters);
    std::sort(dead_.begin(), dead_.end());
}

bool intake::is_dead(commit_position where) const {
    return std::binary_search(dead_.begin(), dead_.end(), where);
}

void intake::condemn_row(const std::string& message_id, condemnation reason) {
    condemned_rows_.insert_or_assign(message_id, std::move(reason));
}

const condemnation* intake::condemnation_of(const message& content) const {
    if (in_snapshot_) {
        const auto found = condemned_rows_.find(content.id);
        return found == condemned_rows_.end() ? nullptr : &found->second;
    }
    const auto found = condemned_.find(content.where.at);
    if (found != condemned_.end()) {
        return &found->second;
    }
    return is_dead(content.where.at) ? &already_dead() : nullptr;
}

void intake::keep(std::size_t mapper, const row_insert& row, kept_row& into) {
    if (!options_.dead_letters) {
        return;
    }
    auto& about = described_[mapper];
    if (!about || about->revision != row.table->revision) {
        about = std::make_shared<const relation>(*row.table);
    }
    into.keep(mapper, about, row);
}

dead_letter intake::set_aside(const message& refused, const kept_row& row,
                              const condemnation& reason, std::optional<commit_position> before) {
    if (transaction_ && transaction_->last_published == refused.where.at) {
        transaction_->last_published = last_published_without(refused.where.at, before);
    }
    const auto fields = row.fields();
    const row_insert again{&row.about(), fields};
    auto& mapper = mappers_[row.table()];
    auto letter = make_dead_letter(mapper.table(), again, refused, reason);
    letter.key = mapper.id_of(again);
    return letter;
}

result<void> intake::check_size(const message& candidate) const {
    const auto size = wire_bytes(candidate, options_.stream);
    if (limits_.max_payload_bytes != 0 && size > limits_.max_payload_bytes) {
        return too_large(candidate, size, limits_.max_payload_bytes, "the broker's max_payload",
                         "raise max_payload in nats-server.conf and reload it, then start again");
    }
    if (limits_.max_message_bytes >= 0 &&
        size > static_cast<std::uint64_t>(limits_.max_message_bytes)) {
        return too_large(candidate, size, static_cast<std::uint64_t>(limits_.max_message_bytes),
                         "the stream's max_msg_size",
                         "raise it with `nats stream edit --max-msg-size`, then start again");
    }
    return {};
}

row_insert intake::with_size(row_insert row) const {
    std::uint64_t bytes = 0;
    for (const auto& each : row.fields) {
        bytes += each ? each->size() : 0;
    }
    row.too_large_bytes = bytes > options_.max_row_bytes ? bytes : 0;
    return row;
}

error intake::row_too_large(std::string_view id, const position& where, std::uint64_t bytes) const {
    const auto name = id.empty() ? std::string("a row") : "row id " + std::string(id);
    return {
        errc::message_too_large,
        name + " (position " + to_string(where) + ") has " + std::to_string(bytes) +
            " bytes, more than delivery.max_row_bytes = " + std::to_string(options_.max_row_bytes),
        "let its writer keep large content elsewhere and refer to it; or raise "
        "delivery.max_row_bytes and the broker's max_payload, and insert the row again"};
}

result<void> intake::set_aside_without_content(std::size_t mapper, const row_insert& row,
                                               const message& content, const error& why,
                                               frame_read& done) {
    auto aside = set_aside(mapper, row, content, why, done);
    if (aside) {
        done.dead->event.clear();
    }
    return aside;
}

}  // namespace walrelay::relay
