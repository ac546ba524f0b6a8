#include "app/broker_adapter.hpp"

#include "app/clock.hpp"
#include "core/rethrow.hpp"
#include "servers/broker_side.hpp"
#include "servers/findings_error.hpp"
#include "servers/translate.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <chrono>
#include <utility>

namespace walrelay::app {

namespace asio = boost::asio;

broker_adapter::broker_adapter(servers::executors on, const config::settings& settings,
                               relay::relay_driver& driver)
    : on_(std::move(on)), settings_(settings), driver_(driver) {}

void broker_adapter::spawn(asio::awaitable<void> work) const {
    asio::co_spawn(on_.loop, std::move(work), rethrow{});
}

void broker_adapter::connect(const relay::connect_broker& wanted,
                             const relay::known_of_stream& known) {
    spawn(make_connection(wanted, known));
}

void broker_adapter::close() {
    connection_.reset();
}

result<void> broker_adapter::publish(const relay::outgoing& what) {
    if (!connection_) {
        return {};
    }
    return connection_->publish(*what.content, what.token.index, what.expected_last_sequence);
}

bool broker_adapter::is_full() {
    return connection_ && connection_->is_full();
}

void broker_adapter::flush() {
    if (connection_) {
        connection_->flush();
    }
}

void broker_adapter::ask_stream() {
    if (connection_) {
        connection_->ask_stream();
    }
}

void broker_adapter::read_message(const relay::read_message& wanted) {
    spawn(look_at_message(wanted));
}

void broker_adapter::mark_stream(relay::mark_stream wanted, const std::string& description) {
    spawn(write_mark(std::move(wanted), description));
}

void broker_adapter::read_stored(relay::read_stored wanted) {
    spawn(look_at_stored(std::move(wanted)));
}

void broker_adapter::take_reply(const nats::reply& answer) {
    const auto domain =
        connection_ ? std::optional<std::string_view>(connection_->domain()) : std::nullopt;
    driver_.reply_arrived({answer.epoch, answer.index},
                          relay::parse_publish_reply(answer.body, settings_.nats.stream, domain));
}

nats::connection_events broker_adapter::events(std::uint64_t epoch) {
    return {[this](const nats::reply& answer) { take_reply(answer); },
            [this] { driver_.replies_ended(); }, [this] { driver_.settle(); },
            [this, epoch](const error& why) { driver_.broker_failed(epoch, why); },
            [this, epoch](std::string_view answer) {
                driver_.stream_answered(epoch, relay::parse_last_sequence(answer));
            }};
}

std::optional<error> broker_adapter::taken_by_another(const broker_facts& facts,
                                                      const relay::known_of_stream& known) const {
    if (!known.owner || !facts.stream) {
        return std::nullopt;
    }
    return servers::to_error(relay::owner_findings(servers::expectations_of(settings_),
                                                   *known.owner, facts.stream->description),
                             errc::broker_unsuitable);
}

asio::awaitable<void> broker_adapter::make_connection(relay::connect_broker wanted,
                                                      relay::known_of_stream known) {
    const auto epoch = wanted.epoch;
    if (wanted.step_down) {
        co_await servers::ask_to_step_down(on_.blocking, settings_);
    }
    auto told = events(epoch);
    const auto policy =
        known.was_there ? servers::missing_stream::report : servers::missing_stream::create;
    const servers::wanted_messages which{wanted.look_back, wanted.asks_for};
    auto ready = co_await servers::prepare_broker(on_.loop, on_.blocking, settings_, epoch,
                                                  std::move(told), policy, which);
    if (!driver_.wants_broker(epoch)) {
        co_return;
    }
    if (!ready) {
        driver_.broker_failed(epoch, ready.error());
        co_return;
    }
    const auto facts = (*ready)->take_facts();
    if (const auto taken = taken_by_another(facts, known)) {
        driver_.broker_failed(epoch, *taken);
        co_return;
    }
    connection_ = std::move(*ready);
    const auto& seen = *facts.stream;
    show_stream(stream_usage{seen.message_count, seen.byte_count, seen.last_sequence});
    driver_.broker_connected(epoch, facts);
    const relay::size_limits limits{facts.max_payload_bytes, seen.max_message_bytes};
    spawn(watch_stream(epoch, seen.created, limits));
}

std::optional<error> broker_adapter::other_limits(const nats::stream_glance& seen,
                                                  relay::size_limits known) {
    const auto connects_again = [](const std::string& what, auto was, auto is) {
        return error{errc::broker_lost, what + " was changed from " + std::to_string(was) + " to " +
                                            std::to_string(is) +
                                            " bytes: the connection is made again to use it"};
    };
    if (seen.max_message_bytes != known.max_message_bytes) {
        return connects_again("max_msg_size of stream " + settings_.nats.stream,
                              known.max_message_bytes, seen.max_message_bytes);
    }
    if (known.max_payload_bytes != 0 && seen.max_payload_bytes > known.max_payload_bytes &&
        seen.max_payload_bytes != payload_tried_) {
        payload_tried_ = seen.max_payload_bytes;
        return connects_again("the broker's max_payload", known.max_payload_bytes,
                              seen.max_payload_bytes);
    }
    return std::nullopt;
}

bool broker_adapter::goes_over_to(const std::string& leader) {
    if (leader.empty() || leader == connection_->server_name()) {
        leader_tried_.clear();
        return false;
    }
    if (leader == leader_tried_ || !driver_.is_at_rest() || !connection_->may_reach(leader)) {
        return false;
    }
    leader_tried_ = leader;
    return true;
}

asio::awaitable<void> broker_adapter::watch_stream(std::uint64_t epoch, wall_time created,
                                                   relay::size_limits limits) {
    constexpr std::chrono::seconds pause{5};
    asio::steady_timer timer(on_.loop);
    while (driver_.wants_broker(epoch)) {
        timer.expires_after(pause);
        co_await timer.async_wait(asio::as_tuple(asio::use_awaitable));
        if (!driver_.wants_broker(epoch)) {
            co_return;
        }
        const auto known = co_await servers::glance_at_stream(on_.blocking, settings_);
        if (!driver_.wants_broker(epoch)) {
            co_return;
        }
        const bool is_there = known && *known;
        show_stream(is_there ? std::optional((*known)->usage) : std::nullopt);
        // That it cannot be asked for, because a secret is being changed, is no reason to stop.
        if (known && (!is_there || (*known)->created != created)) {
            driver_.broker_failed(epoch, {errc::broker_lost, "stream " + settings_.nats.stream +
                                                                 " was deleted, or made again"});
        } else if (is_there) {
            if (const auto why = other_limits(**known, limits)) {
                driver_.broker_failed(epoch, *why);
            } else if (goes_over_to((*known)->leader)) {
                driver_.leader_moved(epoch, (*known)->leader);
            }
        }
    }
}

void broker_adapter::show_stream(const std::optional<stream_usage>& usage) {
    if (board_ != nullptr) {
        board_->servers().stream_was_read(usage, now());
    }
}

asio::awaitable<void> broker_adapter::look_at_message(relay::read_message wanted) {
    const auto found =
        co_await servers::message_of_stream(on_.blocking, settings_, wanted.sequence);
    driver_.message_read(wanted.epoch, found);
}

asio::awaitable<void> broker_adapter::write_mark(relay::mark_stream wanted,
                                                 std::string description) {
    auto marked = co_await servers::claim_stream(on_.blocking, settings_, std::move(wanted.owner),
                                                 std::move(wanted.to_be), std::move(description));
    if (marked) {
        driver_.stream_marked(std::move(marked->description), marked->last_sequence);
    } else {
        driver_.stream_not_marked(marked.error());
    }
}

asio::awaitable<void> broker_adapter::look_at_stored(relay::read_stored wanted) {
    const auto rows = co_await servers::read_stored(on_, settings_, std::move(wanted.wanted));
    driver_.stored_read(wanted.epoch, rows);
}

}  // namespace walrelay::app
