#include "tasks/cleanup/cleanup_log.hpp"

#include "audit/printable.hpp"
#include "core/progress.hpp"
#include "log/log.hpp"

#include <fmt/format.h>

#include <utility>

namespace walrelay::tasks {

using namespace std::chrono_literals;

cleanup_log::cleanup_log(const config::settings& settings, std::size_t table)
    : settings_(settings), table_(settings.outbox.at(table)), deletions_(table_.table) {}

/// How many there are to be told of now; 0 where that was done just now.
std::uint64_t cleanup_log::untold::now_with_one_more() {
    constexpr auto between_lines = 10s;
    ++messages;
    if (std::chrono::steady_clock::now() - told_at < between_lines) {
        return 0;
    }
    told_at = std::chrono::steady_clock::now();
    return std::exchange(messages, 0);
}

void cleanup_log::stranger(const nats::passed_message& message, const std::string& why) {
    // Beside other writers, messages without a position are nothing to be told.
    if (message.position.empty() && !settings_.nats.sole_writer) {
        return;
    }
    const auto strangers = strangers_.now_with_one_more();
    if (strangers == 0) {
        return;
    }
    log<"cleanup_distrusts">(
        fmt::format("the clean-up of {} deletes no row for {} of "
                    "stream {} that may not be walrelay's "
                    "own, the last at sequence {}, subject {}: {}; allow only "
                    "walrelay's user to publish on "
                    "the stream's subjects",
                    to_string(table_.table), counted(strangers, "message"), settings_.nats.stream,
                    message.sequence, audit::printable(message.subject), why),
        with<"table">(table_.table), with<"stream">(settings_.nats.stream),
        with<"messages">(strangers), with<"sequence">(message.sequence),
        with<"subject">(message.subject));
}

void cleanup_log::older(const nats::passed_message& message, lsn since) {
    const auto count = older_.now_with_one_more();
    if (count == 0) {
        return;
    }
    log<"cleanup_leaves_rows">(
        fmt::format(
            "the clean-up of {} deletes no row for {} of stream {}, the last at sequence "
            "{}, from before LSN {}: they may have been published by another message_id, or "
            "of another table of that name, so that their ids can be those of other rows; "
            "delete the rows of then by hand",
            to_string(table_.table), counted(count, "message"), settings_.nats.stream,
            message.sequence, to_string(since)),
        with<"table">(table_.table), with<"stream">(settings_.nats.stream), with<"messages">(count),
        with<"sequence">(message.sequence), with<"lsn">(since));
}

void cleanup_log::waits(const error& why) {
    auto text = "clean-up of " + to_string(table_.table) + " waits: " + to_string(why);
    if (text != told_) {
        log<"cleanup_waits">(text, with<"table">(table_.table), with<"error">(why.code));
        told_ = std::move(text);
    }
}

void cleanup_log::goes_on() {
    if (!std::exchange(told_, {}).empty()) {
        log<"cleanup_resumed">("clean-up of " + to_string(table_.table) + " resumes",
                               with<"table">(table_.table));
    }
}

}  // namespace walrelay::tasks
