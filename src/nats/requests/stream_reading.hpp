// Reads messages of a stream, headers only, from one sequence to another: to that sequence, or to
// the proof that the stream has no more up to it. What a consumer says is pending ends nothing.
//
// Messages that were delivered and died on the way are read again, with another consumer and in
// smaller batches; where there can be no consumer, message by message. On the worker thread.
#pragma once

#include "core/change.hpp"
#include "core/error.hpp"
#include "nats/requests/batch_pace.hpp"
#include "nats/requests/handles.hpp"
#include "nats/session/connect_options.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>

namespace walrelay::nats {

/// Lives as long as the call that it is given to.
struct stream_message {
    std::uint64_t sequence = 0;
    wall_time stored = {};
    natsMsg* headers = nullptr;
};

using message_visitor = std::function<result<void>(const stream_message&)>;

/// What is to be read, the last one included; and how far that has come, so that another connection
/// can go on.
struct reading_span {
    reading_span(std::uint64_t from, std::uint64_t to) : first(from), last(to), next(from) {}

    std::uint64_t first;
    std::uint64_t last;
    std::uint64_t next;
    /// Messages that were visited.
    std::uint64_t seen = 0;

    [[nodiscard]] bool is_over() const { return next > last; }
};

class stream_reading {
public:
    /// `incoming` must live until the connection is closed, see nats/requests/look_back.
    stream_reading(natsConnection* connection, const connect_options& options,
                   subscription_handle& incoming)
        : connection_(connection), options_(options), incoming_(incoming) {}

    /// From now on only messages whose subject is like this one; `>` is all.
    void read_only(std::string subject) {
        subject_ = std::move(subject);
        // nats-server 2.9 refuses a consumer of a subject that the stream does not have.
        refused_.clear();
    }

    /// Calls `visit` with each message until it fails. Gives the sequence of a message after the
    /// last one where one was met, else 0. Errors: those of `visit`; broker_lost where the
    /// connection ended; broker_unavailable where what the span has left cannot be read, or where
    /// the servers of the stream do not agree about it.
    [[nodiscard]] result<std::uint64_t> read(reading_span& span, const message_visitor& visit);

    /// What the server said that forbids a consumer, so that messages were read one by one; else
    /// empty.
    [[nodiscard]] const std::string& refused() const { return refused_; }
    /// How many messages are read at a time by now.
    [[nodiscard]] std::uint64_t batch_size() const { return one_by_one_ ? 1 : pace_.size(); }

private:
    /// Why a part of the reading ended.
    enum class stop : std::uint8_t { at_the_end, dried_up, cut_short, no_consumer };
    struct batch;

    [[nodiscard]] bool reads_all() const { return subject_ == ">"; }
    [[nodiscard]] result<void> prepare();
    [[nodiscard]] result<stop> pass(reading_span& span, const message_visitor& visit);
    /// Nothing once it is made.
    [[nodiscard]] result<std::optional<stop>> make_consumer(std::uint64_t from,
                                                            consumer_info_handle& made);
    [[nodiscard]] result<stop> read_batch(reading_span& span, batch& now,
                                          const message_visitor& visit);
    [[nodiscard]] result<std::optional<stop>> take(natsMsg* one, reading_span& span, batch& now,
                                                   const message_visitor& visit);
    [[nodiscard]] stop end_of_batch(natsMsg* status);
    [[nodiscard]] result<void> read_all(reading_span& span, const message_visitor& visit);
    [[nodiscard]] result<void> look_for_more(reading_span& span);
    [[nodiscard]] result<void> step(reading_span& span, const message_visitor& visit);
    [[nodiscard]] result<stream_info_handle> look(const reading_span& span);
    [[nodiscard]] result<void> prove_end(const reading_span& span);
    /// Of a request that failed: nothing where it can be tried again.
    [[nodiscard]] std::optional<error> lasting(const reading_span& span) const;
    [[nodiscard]] error unread(const reading_span& span) const;

    natsConnection* connection_;
    const connect_options& options_;
    subscription_handle& incoming_;
    std::string subject_ = ">";
    jetstream_handle jetstream_;
    std::string inbox_;
    std::uint64_t requests_ = 0;
    batch_pace pace_;
    std::string refused_;
    /// What the last failure was.
    std::string trouble_;
    bool one_by_one_ = false;
    std::uint64_t beyond_ = 0;
};

/// Before the same is tried once more: longer each time.
void wait_before_try(unsigned tries);

}  // namespace walrelay::nats
