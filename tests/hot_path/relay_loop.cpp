#include "hot_path/relay_loop.hpp"

#include "hot_path/event_frames.hpp"
#include "nats/session/wire_lines.hpp"
#include "nats/session/wire_parser.hpp"

#include <algorithm>
#include <charconv>
#include <stdexcept>
#include <utility>
#include <variant>

namespace walrelay::test {
namespace {

constexpr history origin{7'300'000'000'000'000'001, 1};
/// About what one read of a socket brings.
constexpr std::size_t frames_per_read = 32;
constexpr std::uint64_t replies_per_read = 32;
/// How long that takes, on a slow day, so that the stream is asked now and then what it has.
constexpr std::chrono::milliseconds time_per_read{2};
constexpr std::string_view inbox = "_INBOX.abcdefghij.";

std::uint64_t index_of(std::string_view subject) {
    std::uint64_t index = 0;
    std::from_chars(subject.data() + inbox.size(), subject.data() + subject.size(), index);
    return index;
}

outbox_table table_of(const loop_options& options) {
    outbox_table table;
    table.table = event_table();
    table.body = options.body;
    return table;
}

std::vector<outbox::table_mapper> mappers_of(const loop_options& options) {
    std::vector<outbox::table_mapper> mappers;
    mappers.push_back(outbox::table_mapper::make(table_of(options)).value());
    return mappers;
}

relay::relay_options machine_options(const loop_options& options) {
    relay::relay_options wanted;
    wanted.slot = "walrelay";
    wanted.stream = "OUTBOX";
    wanted.lane.window_messages = options.window_messages;
    wanted.lane.sole_writer = options.sole_writer;
    return wanted;
}

broker_facts empty_stream() {
    broker_facts facts;
    facts.max_payload_bytes = std::uint64_t{1} << 20U;
    facts.stream.emplace();
    return facts;
}

relay::table_catalog catalog() {
    outbox_table table;
    table.table = event_table();
    postgres_facts facts;
    facts.tables.resize(1);
    facts.tables[0].table = event_table();
    return {{table}, facts};
}

}  // namespace

relay_loop::relay_loop(const loop_options& options)
    : machine_(machine_options(options), mappers_of(options), 1),
      window_messages_(options.window_messages),
      in_flight_(window_messages_) {
    connect(options.plugin);
}

void relay_loop::connect(output_plugin plugin) {
    machine_.start();
    settle();
    machine_.broker_connected(broker_epoch_, empty_stream(), now_);
    settle();
    relay::postgres_session session;
    session.origin = origin;
    session.catalog = catalog();
    session.plugin = plugin;
    machine_.postgres_connected(postgres_epoch_, std::move(session), now_);
    settle();
}

void relay_loop::run(std::span<const std::string> frames) {
    std::size_t read = 0;
    for (const auto& frame : frames) {
        machine_.frame_arrived(frame, now_);
        if (++read % frames_per_read == 0) {
            settle();
        }
        // The first message goes alone, and fills the window with what waits behind it.
        if (published_ - stored_ >= window_messages_ / 2 || !machine_.wants_frames()) {
            settle();
            reply(std::min(replies_per_read, published_ - stored_));
        }
    }
    settle();
}

void relay_loop::finish() {
    settle();
    while (stored_ < published_) {
        reply(published_ - stored_);
    }
    pass(std::chrono::seconds(1));
}

void relay_loop::pass(std::chrono::milliseconds time) {
    now_.monotonic += time;
    if (const auto due = machine_.deadline(); due && *due <= now_.monotonic) {
        machine_.time_passed(now_);
        settle();
    }
}

bool relay_loop::is_settled() const {
    const auto stored = machine_.the_lane().stored_up_to();
    return stored && machine_.the_lane().empty() && machine_.confirmed() > stored->commit;
}

void relay_loop::settle() {
    while (const auto wanted = machine_.next_action(now_.monotonic)) {
        take(*wanted);
    }
    static_cast<void>(machine_.deadline());
    lines_.clear();
    if (std::exchange(is_asked_, false)) {
        machine_.stream_answered(broker_epoch_, stored_, now_);
        settle();
    }
}

void relay_loop::take(const relay::action& wanted) {
    if (const auto* const publish = std::get_if<relay::publish>(&wanted)) {
        const auto& what = publish->what;
        nats::append_publish(lines_, *what.content,
                             {.inbox = inbox,
                              .index = what.token.index,
                              .expected_last_sequence = what.expected_last_sequence});
        in_flight_[published_ % window_messages_] = what.token;
        ++published_;
    } else if (const auto* const broker = std::get_if<relay::connect_broker>(&wanted)) {
        broker_epoch_ = broker->epoch;
    } else if (const auto* const postgres = std::get_if<relay::connect_postgres>(&wanted)) {
        postgres_epoch_ = postgres->epoch;
    } else if (std::holds_alternative<relay::ask_stream>(wanted)) {
        is_asked_ = true;
    } else if (!std::holds_alternative<relay::write_log>(wanted) &&
               !std::holds_alternative<relay::send_status>(wanted)) {
        throw std::logic_error("the relay wants something that a drain has no need of");
    }
}

void relay_loop::reply(std::uint64_t messages) {
    answers_.clear();
    for (; messages > 0; --messages) {
        append_answer(in_flight_[stored_ % window_messages_]);
    }
    std::string_view unread = answers_;
    for (auto answer = nats::take_operation(unread); answer.verb == nats::wire_verb::message;
         answer = nats::take_operation(unread)) {
        machine_.reply_arrived({broker_epoch_, index_of(answer.subject)},
                               relay::parse_publish_reply(answer.text, "OUTBOX"), now_);
    }
    settle();
    pass(time_per_read);
}

void relay_loop::append_answer(const relay::publish_token& to) {
    ++stored_;
    body_.assign(R"({"stream":"OUTBOX", "seq":)");
    body_ += std::to_string(stored_);
    body_ += '}';
    answers_.append("MSG ").append(inbox).append(std::to_string(to.index)).append(" 1 ");
    answers_.append(std::to_string(body_.size())).append("\r\n").append(body_).append("\r\n");
}

}  // namespace walrelay::test
