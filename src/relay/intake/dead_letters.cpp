#include "relay/intake/dead_letters.hpp"

#include "core/assert.hpp"
#include "relay/intake/row_json.hpp"

#include <chrono>
#include <utility>

namespace walrelay::relay {
namespace {

/// Of one transaction that stores them.
constexpr std::size_t batch_letters = 1000;
constexpr std::size_t batch_bytes = std::size_t{8} << 20U;

/// Every row is told on its own up to so many in an interval.
constexpr std::size_t told_each = 10;
constexpr std::chrono::seconds interval{10};

std::size_t size_of(const dead_letter& letter) {
    std::size_t bytes = sizeof letter + letter.event.size() + letter.reason.size() +
                        letter.message_id.size() + letter.subject.size();
    for (const auto& each : letter.headers) {
        bytes += each.name.size() + each.value.size();
    }
    return bytes;
}

}  // namespace

dead_letter make_dead_letter(const table_name& source, const row_insert& row,
                             const message& content, const condemnation& reason) {
    dead_letter letter;
    letter.source = source;
    letter.where = content.where;
    letter.committed_at = content.committed_at;
    letter.xid = content.xid;
    letter.message_id = content.id;
    letter.subject = content.subject;
    for (std::size_t index = 0; index < content.header_count(); ++index) {
        letter.headers.push_back(content.header_at(index));
    }
    letter.event = row_as_json(row);
    // The remedy is one for a relay that stops there.
    letter.reason = to_string(error{reason.why.code, reason.why.what, "", reason.why.server_said});
    letter.error_code = reason.error_code;
    letter.attempts = reason.attempts;
    return letter;
}

std::string describe(const dead_letter& letter) {
    if (letter.retry) {
        return "the retry of dead letter " + std::to_string(letter.retry->letter) +
               ", a row of table " + to_string(letter.source) + ", failed: " + letter.reason +
               ". The letter is open again: `walrelay dead-letter retry` publishes it once the "
               "cause is fixed";
    }
    const auto what = "a row of table " + to_string(letter.source) + " at position " +
                      to_string(letter.where) +
                      " is set aside in walrelay.dead_letter: " + letter.reason;
    if (is_of_large_replayed_row(letter.message_id, letter.reason)) {
        return what +
               ". The letter does not hold its content: once the cause is fixed, `walrelay replay` "
               "publishes the row again";
    }
    if (letter.event.empty() && is_message_source(letter.source)) {
        return what +
               ". The letter does not hold its content, and a message of pg_logical_emit_message "
               "is in no table: once the cause is fixed, have its writer emit it again";
    }
    if (letter.event.empty()) {
        return what +
               ". The letter does not hold its content: once the cause is fixed, `walrelay "
               "dead-letter retry` reads the row from its table, as long as it is there";
    }
    return what +
           ". Nothing is lost: `walrelay dead-letter list` shows it, and `walrelay dead-letter "
           "retry` publishes it once the cause is fixed";
}

void dead_letter_queue::add(dead_letter letter) {
    bytes_ += size_of(letter);
    waiting_.push_back(std::move(letter));
}

std::shared_ptr<const dead_letters> dead_letter_queue::next_batch() {
    if (under_way_ != nullptr || waiting_.empty()) {
        return nullptr;
    }
    auto batch = std::make_shared<dead_letters>();
    while (!waiting_.empty() && batch->size() < batch_letters && bytes_under_way_ < batch_bytes) {
        bytes_under_way_ += size_of(waiting_.front());
        batch->push_back(std::move(waiting_.front()));
        waiting_.pop_front();
    }
    under_way_ = batch;
    return batch;
}

std::shared_ptr<const dead_letters> dead_letter_queue::stored() {
    WALRELAY_ASSERT(under_way_ != nullptr);
    bytes_ -= std::exchange(bytes_under_way_, 0U);
    return std::exchange(under_way_, nullptr);
}

std::shared_ptr<const dead_letters> dead_letter_queue::clear() {
    waiting_.clear();
    bytes_ = 0;
    bytes_under_way_ = 0;
    return std::exchange(under_way_, nullptr);
}

std::optional<log_entry> dead_letter_log::stored(const dead_letter& letter, monotonic_time now) {
    if (!since_ || (counted_.empty() && now - *since_ >= interval)) {
        since_ = now;
        told_ = 0;
    }
    if (told_ < told_each) {
        ++told_;
        return log_entry::of<"dead_letter_stored">(describe(letter), with<"table">(letter.source),
                                                   with<"position">(letter.where),
                                                   with<"reason">(letter.reason));
    }
    ++counted_[letter.source];
    last_ = "row at position " + to_string(letter.where) + ": " + letter.reason;
    return std::nullopt;
}

std::optional<monotonic_time> dead_letter_log::deadline() const {
    return counted_.empty() ? std::nullopt : std::optional(*since_ + interval);
}

std::optional<log_entry> dead_letter_log::summary() {
    std::string text;
    std::uint64_t rows = 0;
    for (const auto& [table, count] : std::exchange(counted_, {})) {
        text += (text.empty() ? "set aside in walrelay.dead_letter besides: " : ", ") +
                std::to_string(count) + (count == 1 ? " row" : " rows") + " of table " +
                to_string(table);
        rows += count;
    }
    since_.reset();
    if (rows == 0) {
        return std::nullopt;
    }
    return log_entry::of<"dead_letters_counted">(
        text + " (the last one: " + last_ + "). `walrelay dead-letter list` shows them",
        with<"rows">(rows));
}

}  // namespace walrelay::relay
