#include "relay/checkpoint/witness_keeper.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace walrelay::relay {
namespace {

constexpr std::chrono::seconds between_writes{1};
constexpr std::chrono::seconds between_idle_writes{60};

/// What the witness's own commit, and what the server writes after it by itself (a checkpoint, full
/// pages, running transactions, the rest of a segment of 16 MiB at archive_timeout), stay below.
constexpr std::uint64_t idle_bytes = std::uint64_t{20} << 20U;

}  // namespace

void witness_keeper::begin(const witness_reading& read, lsn slot_confirmed) {
    if (read.kept || read.writable) {
        known_ = read.kept;
    }
    writable_ = read.writable;
    offered_ = {};
    writing_.reset();
    unanswered_.reset();
    retry_at_.reset();
    replaces_ = false;
    is_ending_ = false;
    is_signed_ = !writable_;
    told_ = slot_confirmed;
}

bool witness_keeper::is_own(const std::optional<witness>& found) const {
    const bool is_in_memory = known_ && known_->version == 0;
    if (found == known_ || (!found && is_in_memory)) {
        return true;
    }
    const auto version = known_ ? known_->version : 0;
    if (!found || !unanswered_ || found->version != version + 1) {
        return false;
    }
    auto written = *unanswered_;
    written.version = found->version;
    return *found == written;
}

void witness_keeper::end() {
    if (writing_) {
        // A try to connect that fails ends as well.
        unanswered_ = std::exchange(writing_, std::nullopt);
    }
    retry_at_.reset();
    replaces_ = false;
}

void witness_keeper::offer(const std::string& stream, wall_time created,
                           const std::optional<stored_message>& last, lsn confirmed,
                           history origin) {
    // With every ack, most of which are within a transaction: what is stored meanwhile is named as
    // soon as there is something to be told.
    const bool is_same_stream = created == offered_.created && !offered_.stream.empty();
    if (confirmed == offered_.told && origin == offered_.origin && is_same_stream) {
        return;
    }
    const auto newest = newest_of(last, stream, created);
    if (is_ending_ && newest.sequence == offered_.sequence) {
        // Most of all its own commit: a relay that followed that would not come to an end.
        return;
    }
    if (offered_.stream != stream) {
        offered_.stream = stream;
    }
    offered_.created = created;
    offered_.sequence = newest.sequence;
    offered_.where = newest.where;
    offered_.told = confirmed;
    offered_.origin = origin;
    if (!writable_) {
        offered_.version = known_ ? known_->version : 0;
        known_ = offered_;
    }
    move_on();
}

/// A relay that has stored nothing yet knows no message by itself, and another one may have stored
/// more than it: what the database says, or will say, stands until it is proved wrong. What is in
/// no database was never judged, and holds for its own stream alone.
stored_message witness_keeper::newest_of(const std::optional<stored_message>& last,
                                         const std::string& stream, wall_time created) const {
    const auto* const named = replaces_ ? &offered_ : known_ ? &*known_ : nullptr;
    const bool counts =
        named != nullptr &&
        (named->version > 0 || (named->stream == stream && named->created == created));
    const auto kept = counts ? stored_message{named->sequence, named->where} : stored_message{};
    const bool is_later = last && (last->sequence > kept.sequence ||
                                   (last->sequence == kept.sequence && last->where));
    return is_later ? *last : kept;
}

bool witness_keeper::is_named() const {
    // The row comes first: without it, a slot that has moved would be one of an earlier version.
    if (!known_) {
        return !writable_;
    }
    return known_->sequence >= offered_.sequence;
}

/// Whether what was stored since comes after all rows that the witness speaks of. Where a slot has
/// gone back, rows before may be stored that the stream lacked: what says so must name them.
bool witness_keeper::is_after(const witness& named) const {
    return offered_.where && offered_.where->at.commit >= named.told;
}

/// What the witness names may be told, and what comes after it while nothing is stored.
void witness_keeper::move_on() {
    if (replaces_) {
        return;
    }
    const bool is_of_here = known_ && known_->origin == offered_.origin;
    if (is_named() && is_signed_) {
        told_ = std::max(told_, offered_.told);
    } else if (is_of_here && (is_named() || is_after(*known_))) {
        told_ = std::max(told_, std::min(offered_.told, known_->told));
    }
}

bool witness_keeper::is_idle_move_due() const {
    return known_ && is_named() && known_->origin == offered_.origin &&
           offered_.told.value >= known_->told.value + idle_bytes;
}

bool witness_keeper::owes(bool at_once) const {
    const bool waits = offered_.told > told_;
    const bool is_behind = at_once && known_ && known_->told < offered_.told;
    return writable_ && (writing_ || replaces_ || waits || is_behind || (at_once && is_first()));
}

std::optional<monotonic_time> witness_keeper::deadline() const {
    if (!writable_ || writing_) {
        return std::nullopt;
    }
    const bool waits = offered_.told > told_ || is_first();
    if (!replaces_ && !waits && !is_idle_move_due()) {
        return std::nullopt;
    }
    const auto pause = replaces_ || waits ? between_writes : between_idle_writes;
    const auto earliest = written_at_ ? *written_at_ + pause : monotonic_time{};
    return std::max(replaces_ ? monotonic_time{} : earliest, retry_at_.value_or(monotonic_time{}));
}

std::optional<witness> witness_keeper::take_to_write(monotonic_time now, bool at_once) {
    if (!may_write()) {
        return std::nullopt;
    }
    const auto due = deadline();
    const bool is_due = due && *due <= now;
    const bool may_try = !retry_at_ || *retry_at_ <= now;
    if (!is_due && !(at_once && owes(true) && may_try)) {
        return std::nullopt;
    }
    is_ending_ = is_ending_ || at_once;
    auto next = offered_;
    next.version = known_ ? known_->version : 0;
    writing_ = std::move(next);
    return writing_;
}

void witness_keeper::replace(witness by) {
    by.version = known_ ? known_->version : 0;
    writing_.reset();
    retry_at_.reset();
    offered_ = std::move(by);
    told_ = std::max(told_, offered_.told);
    replaces_ = writable_;
    if (!writable_) {
        known_ = offered_;
    }
}

void witness_keeper::written(std::uint64_t version, monotonic_time now) {
    if (!writing_) {
        return;
    }
    known_ = std::exchange(writing_, std::nullopt);
    known_->version = version;
    written_at_ = now;
    retry_at_.reset();
    replaces_ = false;
    is_signed_ = true;
    move_on();
}

void witness_keeper::failed(monotonic_time now) {
    writing_.reset();
    retry_at_ = now + between_writes;
    // A server that cannot write now, its disk being full perhaps, is to get rid of its WAL.
    is_signed_ = true;
    move_on();
}

void witness_keeper::cannot_be_written() {
    writing_.reset();
    retry_at_.reset();
    writable_ = false;
    is_signed_ = true;
    replaces_ = false;
    auto version = known_ ? known_->version : 0;
    known_ = offered_;
    known_->version = version;
    move_on();
}

}  // namespace walrelay::relay
