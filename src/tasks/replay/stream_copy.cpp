#include "tasks/replay/stream_copy.hpp"

#include "core/change.hpp"
#include "core/instant.hpp"
#include "relay/checkpoint/tail_doubt.hpp"
#include "relay/intake/size_limits.hpp"
#include "relay/lane/lane.hpp"
#include "relay/machine/backoff.hpp"
#include "relay/machine/stream_sight.hpp"
#include "servers/broker_side.hpp"
#include "servers/translate.hpp"
#include "tasks/replay/kept_stream.hpp"
#include "tasks/replay/stream_target.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <memory>
#include <random>
#include <utility>

namespace walrelay::tasks {
namespace {

namespace asio = boost::asio;
using asio::awaitable;
using namespace std::chrono_literals;

/// So many rows are read before the broker's answers are looked at.
constexpr std::size_t rows_at_once = 64;
constexpr std::size_t kept_content_bytes = 1024;
constexpr auto told_each = 100ms;

monotonic_time now() {
    return std::chrono::steady_clock::now();
}

class stream_copy {
public:
    stream_copy(servers::executors on, stream_target target, postgres::kept_replay of,
                std::unique_ptr<kept_stream> past, std::uint64_t planned, tell_progress tell)
        : on_(std::move(on)),
          target_(std::move(target)),
          to_subject_(std::move(of.to_subject)),
          past_(std::move(past)),
          planned_(planned),
          tell_(std::move(tell)),
          lane_(relay::lane::make(servers::relay_options_of(target_.settings).lane)),
          backoff_(servers::relay_options_of(target_.settings).backoff, std::random_device{}()),
          wake_(on_.loop) {
        lane_->set_history(past_->line());
    }

    awaitable<copy_outcome> run();

private:
    /// Until there is a connection on which the lane goes on.
    awaitable<result<void>> connect();
    /// Errors that are no matter of waiting.
    awaitable<result<void>> begin_on(std::unique_ptr<nats::connection> fresh);
    awaitable<result<void>> pause_after_trouble();
    [[nodiscard]] nats::connection_events events_of(std::uint64_t epoch);

    /// As far as the window has room.
    awaitable<result<void>> read_ahead();
    void take(const relay::replayed_row& row);
    void admit(const position& where, const message& content);

    void send();
    void go_on();
    void take_reply(const nats::reply& answer);
    void leave_refused_out();
    void settle_question(const std::optional<asked_message>& answer);
    void lose(error why);
    /// Until something has happened, or the oldest publish counts as lost.
    awaitable<void> wait();
    void tell();
    /// And with the history of the row that is held, once the window is empty.
    awaitable<result<void>> be_connected();
    /// Up to the next thing to wait for. Errors: why it cannot go on.
    awaitable<result<void>> go_further();
    /// Acks have come for all of the range.
    [[nodiscard]] bool is_acked() const { return ended_ && lane_->empty() && !held_; }
    /// Acks are words: the stream itself is looked at once more.
    awaitable<result<void>> look_at_the_end();

    servers::executors on_;
    stream_target target_;
    std::string to_subject_;
    std::unique_ptr<kept_stream> past_;
    std::uint64_t planned_;
    tell_progress tell_;
    std::unique_ptr<relay::lane> lane_;
    relay::backoff backoff_;
    asio::steady_timer wake_;
    std::unique_ptr<nats::connection> connection_;
    relay::size_limits limits_;
    std::uint64_t epoch_ = 0;
    relay::stream_sight seen_;
    relay::tail_doubt doubt_;
    /// The stream has the id of this row at this sequence: what is there tells whose it is.
    struct asked {
        position where;
        std::uint64_t sequence = 0;
    };
    std::optional<asked> asked_;
    /// Why the connection is over.
    std::optional<error> trouble_;
    /// Why the replay is.
    std::optional<error> refused_;
    /// A row of another timeline than those in the window, which must be empty before it comes.
    std::optional<message> held_;
    bool ended_ = false;
    monotonic_time told_at_;
    copy_outcome done_;
};

// The broker's side.

awaitable<result<void>> stream_copy::connect() {
    for (;;) {
        connection_.reset();
        if (lane_->is_open()) {
            lane_->close();
        }
        trouble_.reset();
        ++epoch_;
        auto events = events_of(epoch_);
        const auto policy =
            seen_.is_known() ? servers::missing_stream::report : servers::missing_stream::make_anew;
        const servers::wanted_messages which{lane_->wanted_look_back(),
                                             asked_ ? asked_->sequence : 0};
        auto fresh = co_await servers::prepare_broker(on_.loop, on_.blocking, target_.settings,
                                                      epoch_, std::move(events), policy, which);
        result<void> begun = fresh ? result<void>{} : fresh.error();
        if (fresh) {
            begun = co_await begin_on(std::move(*fresh));
        }
        if (begun || advice_for(begun.error().code) == advice::this_configuration) {
            co_return begun;
        }
        trouble_ = begun.error();
        if (auto waited = co_await pause_after_trouble(); !waited) {
            co_return waited.error();
        }
    }
}

awaitable<result<void>> stream_copy::pause_after_trouble() {
    if (!trouble_) {
        co_return result<void>{};
    }
    tell();
    asio::steady_timer timer(on_.loop, backoff_.next());
    co_await timer.async_wait(asio::use_awaitable);
    co_return past_->stay_alive();
}

awaitable<result<void>> stream_copy::begin_on(std::unique_ptr<nats::connection> fresh) {
    const auto& facts = fresh->facts();
    const auto& seen = *facts.stream;
    const auto& name = target_.settings.nats.stream;
    const auto last = relay::replay_goes_on_after(name, target_.owner, seen, past_->line());
    if (!last) {
        co_return last.error();
    }
    auto tail = relay::tail_of(seen);
    tail.made_again = seen_.was_made_again(seen.created);
    const bool is_missed =
        !tail.made_again && lane_->has_forgotten(tail) && !lane_->reused_sequence();
    if (!is_missed) {
        doubt_.settled();
    } else if (doubt_.doubts(seen.replicas > 1, now())) {
        co_return error{errc::broker_lost, "stream " + name + " ends with sequence " +
                                               std::to_string(seen.last_sequence) +
                                               ", but it has acked up to sequence " +
                                               std::to_string(lane_->known_sequence()) +
                                               "; it is looked at again"};
    }
    auto description = seen.description;
    auto owner = target_.owner;
    auto to_be = target_.owner;
    const auto claimed = co_await servers::claim_stream(
        on_.blocking, target_.settings, std::move(owner), std::move(to_be), std::move(description));
    if (!claimed) {
        auto why = claimed.error();
        // Without its mark nobody would know where it goes on.
        why.code = why.code == errc::broker_unavailable ? why.code : errc::broker_unsuitable;
        co_return why;
    }
    seen_.seen(seen.created);
    limits_ = {facts.max_payload_bytes, seen.max_message_bytes};
    const auto memory = lane_->open(epoch_, tail);
    if (tail.made_again || memory == relay::stream_memory::forgot) {
        co_return error{
            errc::broker_unsuitable,
            "stream " + name +
                (tail.made_again ? " was deleted and made again" : " has lost messages") +
                " while rows were replayed into it: it does not have all of them",
            "replay into another stream: --to-stream"};
    }
    settle_question(seen.asked);
    connection_ = std::move(fresh);
    co_return result<void>{};
}

nats::connection_events stream_copy::events_of(std::uint64_t epoch) {
    return {[this](const nats::reply& answer) { take_reply(answer); }, [this] { go_on(); },
            [this] { go_on(); },
            [this, epoch](const error& why) {
                if (epoch == epoch_) {
                    lose(why);
                }
            }};
}

void stream_copy::go_on() {
    send();
    wake_.cancel();
}

void stream_copy::lose(error why) {
    trouble_ = std::move(why);
    wake_.cancel();
}

void stream_copy::send() {
    while (connection_ && !trouble_ && !connection_->is_full()) {
        const auto next = lane_->next_to_send(now());
        if (!next) {
            break;
        }
        const auto published =
            connection_->publish(*next->content, next->token.index, next->expected_last_sequence);
        if (!published) {
            lose(published.error());
        }
    }
    if (connection_) {
        connection_->flush();
    }
}

void stream_copy::take_reply(const nats::reply& answer) {
    const auto& stream = target_.settings.nats.stream;
    const auto outcome = relay::parse_publish_reply(answer.body, stream, connection_->domain());
    const auto verdict = lane_->on_reply({answer.epoch, answer.index}, outcome, now());
    switch (verdict) {
        case relay::lane_verdict::carry_on:
            backoff_.reset();
            return;
        case relay::lane_verdict::resync:
            lose({errc::broker_lost, lane_->last_trouble()});
            return;
        case relay::lane_verdict::stream_unsuitable:
            refused_ = takes_no_messages(stream, outcome, lane_->last_trouble());
            wake_.cancel();
            return;
        case relay::lane_verdict::message_refused:
            leave_refused_out();
            return;
        case relay::lane_verdict::id_is_taken:
            // By its own earlier publish, perhaps, which a server that lags did not show.
            asked_ = asked{lane_->refused_message().where, lane_->taken_at()};
            lose({errc::broker_lost, lane_->last_trouble()});
            return;
    }
}

void stream_copy::leave_refused_out() {
    const auto where = lane_->refused_message().where;
    done_.left_out.add(where, lane_->last_trouble());
    lane_->set_refused_aside();
    lane_->settle_waiting({where.at});
}

void stream_copy::settle_question(const std::optional<asked_message>& answer) {
    const auto question = std::exchange(asked_, std::nullopt);
    if (!question || !answer || answer->sequence != question->sequence ||
        !lane_->holds(question->where)) {
        return;
    }
    if (answer->where && lane_->line().shares(*answer->where) &&
        answer->where->at == question->where.at) {
        lane_->settle_stored(question->where);
        return;
    }
    lane_->refuse(question->where, question->sequence);
    leave_refused_out();
}

// The side of the past.

void stream_copy::admit(const position& where, const message& content) {
    auto& into = lane_->vacancy();
    into = content;
    into.where = where;
    move_subject(into, to_subject_);
    if (const auto fits = limits_.check(into); !fits) {
        into.clear(kept_content_bytes);
        done_.left_out.add(where, fits.error().what);
        return;
    }
    lane_->admit();
}

void stream_copy::take(const relay::replayed_row& row) {
    if (row.unmappable) {
        done_.left_out.add(row.where, row.unmappable->what);
        return;
    }
    if (lane_->covers(row.where.at)) {
        return;
    }
    if (row.where.origin != lane_->line().origin) {
        held_ = *row.content;
        held_->where = row.where;
        return;
    }
    admit(row.where, *row.content);
}

awaitable<result<void>> stream_copy::read_ahead() {
    for (std::size_t rows = 0; !ended_ && !held_ && !trouble_ && lane_->has_room(); ++rows) {
        if (rows == rows_at_once) {
            rows = 0;
            send();
            tell();
            co_await asio::post(on_.loop, asio::use_awaitable);
        }
        const auto read = co_await past_->next();
        if (!read) {
            co_return read.error();
        }
        if (read->row) {
            take(*read->row);
        }
        ended_ = read->ended;
    }
    co_return result<void>{};
}

// Both.

awaitable<void> stream_copy::wait() {
    constexpr auto longest = 1s;
    auto until = now() + longest;
    if (const auto deadline = lane_->ack_deadline()) {
        until = std::min<monotonic_time>(until, *deadline);
    }
    wake_.expires_at(until);
    co_await wake_.async_wait(asio::as_tuple(asio::use_awaitable));
    const auto deadline = lane_->ack_deadline();
    if (deadline && now() >= *deadline) {
        lose({errc::broker_lost, "the broker has not acked a message in time"});
    }
}

void stream_copy::tell() {
    const auto at = now();
    if (at - told_at_ < told_each) {
        return;
    }
    told_at_ = at;
    tell_({lane_->stored_count(), planned_, trouble_ ? replay_wait::broker : replay_wait::nothing,
           trouble_ ? to_string(*trouble_) : ""});
}

awaitable<result<void>> stream_copy::be_connected() {
    if (!connection_ || trouble_) {
        auto done = co_await pause_after_trouble();
        if (done) {
            done = co_await connect();
        }
        if (!done) {
            co_return done;
        }
    }
    if (!held_ || !lane_->empty()) {
        co_return result<void>{};
    }
    connection_.reset();
    lane_->close();
    lane_->set_history(past_->line().as_of(held_->where.origin.timeline));
    auto connected = co_await connect();
    if (connected) {
        const auto content = std::exchange(held_, std::nullopt);
        admit(content->where, *content);
    }
    co_return connected;
}

awaitable<result<void>> stream_copy::go_further() {
    if (auto ready = co_await be_connected(); !ready) {
        co_return ready;
    }
    if (auto read = co_await read_ahead(); !read) {
        co_return read;
    }
    send();
    if (refused_) {
        co_return *refused_;
    }
    if (!trouble_ && (!lane_->has_room() || ended_ || held_) && !lane_->empty()) {
        co_await wait();
    }
    tell();
    co_return past_->stay_alive();
}

awaitable<result<void>> stream_copy::look_at_the_end() {
    lose({errc::broker_lost, "all of it is acked, the stream is looked at"});
    co_return co_await connect();
}

awaitable<copy_outcome> stream_copy::run() {
    result<void> gone_on;
    while (gone_on && !is_acked()) {
        gone_on = co_await go_further();
    }
    if (gone_on) {
        gone_on = co_await look_at_the_end();
    }
    done_.published = lane_->stored_count();
    done_.last_sequence = lane_->known_sequence();
    if (gone_on) {
        tell_({done_.published, planned_});
    } else {
        done_.broken_off = gone_on.error();
    }
    co_return std::move(done_);
}

}  // namespace

awaitable<result<copy_outcome>> copy_to_stream(servers::executors on,
                                               const config::settings& settings,
                                               postgres::connection& sql, postgres::kept_replay of,
                                               copy_wish wanted, tell_progress tell) {
    const auto& stream = wanted.stream;
    of.at = wanted.after;
    auto past = co_await kept_stream::open(on, settings, sql, of, relay::replayed_as::message);
    if (!past) {
        co_return relay::explain_replay_failure(past.error(), stream);
    }
    auto target = target_of(settings, of, stream, (*past)->line(), (*past)->database());
    if (!target) {
        co_return target.error();
    }
    stream_copy copy(std::move(on), std::move(*target), std::move(of), std::move(*past),
                     wanted.rows_planned, std::move(tell));
    auto outcome = co_await copy.run();
    if (outcome.broken_off) {
        outcome.broken_off = relay::explain_replay_failure(std::move(*outcome.broken_off), stream);
    }
    co_return outcome;
}

}  // namespace walrelay::tasks
