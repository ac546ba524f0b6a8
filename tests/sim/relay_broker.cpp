#include "sim/relay_broker.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

namespace walrelay::sim {
namespace {

std::string header_of(const message& content, std::string_view name) {
    for (std::size_t index = 0; index < content.header_count(); ++index) {
        if (content.header_at(index).name == name) {
            return content.header_at(index).value;
        }
    }
    return {};
}

}  // namespace

void relay_broker::connect(const relay::connect_broker& wanted,
                           const relay::known_of_stream& /*known*/) {
    life_.may_throw();
    const auto epoch = wanted.epoch;
    around_.the_broker.connect(
        events(epoch), wanted.look_back, wanted.asks_for,
        [this, life = life_.weak_from_this(), epoch](const result<broker_session>& answer) {
            const auto lasts = life.lock();
            if (!lasts || lasts->is_over()) {
                if (answer) {
                    answer->connection->close();
                }
                return;
            }
            life_.happens([this, epoch, answer](relay::relay_driver& driver) {
                answered(epoch, answer, driver);
            });
        });
}

broker_events relay_broker::events(std::uint64_t epoch) {
    broker_events events;
    const auto lasting = [life = life_.weak_from_this()] {
        const auto lasts = life.lock();
        return lasts && !lasts->is_over();
    };
    events.on_reply = [this, lasting, epoch](std::uint64_t index, const std::string& body) {
        if (lasting()) {
            reply_came(epoch, index, body);
        }
    };
    events.on_lost = [this, lasting, epoch](const error& why) {
        if (lasting()) {
            life_.happens(
                [epoch, why](relay::relay_driver& driver) { driver.broker_failed(epoch, why); });
        }
    };
    events.on_stream_info = [this, lasting, epoch](const std::string& body) {
        if (lasting()) {
            life_.happens([epoch, body](relay::relay_driver& driver) {
                driver.stream_answered(epoch, relay::parse_last_sequence(body));
            });
        }
    };
    return events;
}

void relay_broker::answered(std::uint64_t epoch, const result<broker_session>& answer,
                            relay::relay_driver& driver) {
    if (!driver.wants_broker(epoch)) {
        if (answer) {
            answer->connection->close();
        }
        return;
    }
    if (!answer) {
        driver.broker_failed(epoch, answer.error());
        return;
    }
    if (around_.the_broker.is_broken() && around_.where.random().chance(500)) {
        answer->connection->close();
        driver.broker_failed(epoch, {errc::broker_unsuitable, "the stream is sealed"});
        return;
    }
    connection_ = answer->connection;
    auto facts = answer->facts;
    if (around_.defect == canary::no_tail) {
        facts.stream->last_position.reset();
        facts.stream->final_position.reset();
    }
    if (facts.stream) {
        around_.watch.on_stream_seen(facts.stream->last_sequence);
    }
    driver.broker_connected(epoch, facts);
}

void relay_broker::close() {
    if (const auto closing = std::exchange(connection_, nullptr)) {
        closing->close();
    }
}

result<void> relay_broker::publish(const relay::outgoing& what) {
    if (!connection_) {
        return {};
    }
    life_.may_throw();
    const auto& content = *what.content;
    published sent{content.id, content.subject, content.body,
                   header_of(content, "Walrelay-Position"), what.expected_last_sequence};
    if (around_.defect == canary::no_expectation) {
        sent.expected_last_sequence.reset();
    }
    predicted_[what.token.index] = what.expected_last_sequence.value_or(0) + 1;
    if (joined_) {
        checker::on_published(sent.position, *joined_);
    }
    life_.say("publishes ", content.id, " after ", what.expected_last_sequence.value_or(0));
    const bool is_sent = connection_->publish(what.token.index, std::move(sent));
    if (around_.where.strikes(around_.how.rate(hazard::connection_full))) {
        full_until_ = around_.where.now() + around_.how.broker_latency;
        life_.happens_after(around_.how.broker_latency,
                            [](relay::relay_driver& driver) { driver.settle(); });
    }
    if (!is_sent) {
        return error{errc::broker_lost, "a publish cannot be sent"};
    }
    return {};
}

bool relay_broker::is_full() {
    return connection_ && around_.where.now() < full_until_;
}

void relay_broker::reply_came(std::uint64_t epoch, std::uint64_t index, const std::string& body) {
    auto outcome = relay::parse_publish_reply(body, "S");
    if (around_.defect == canary::acks_everything) {
        outcome = {relay::outcome_class::stored, predicted_[index], 0, {}};
    }
    life_.say("reply to ", index, " of epoch ", epoch, ": ", body);
    // The driver takes all replies that one read of the socket held before it obeys.
    const bool last_of_the_read = around_.where.random().chance(700);
    life_.happens([epoch, index, outcome, last_of_the_read](relay::relay_driver& driver) {
        driver.reply_arrived({epoch, index}, outcome);
        if (last_of_the_read) {
            driver.replies_ended();
        }
    });
    if (!last_of_the_read) {
        life_.happens_after(sim_time(5),
                            [](relay::relay_driver& driver) { driver.replies_ended(); });
    }
}

void relay_broker::ask_stream() {
    if (connection_) {
        life_.may_throw();
        connection_->ask_stream();
    }
}

void relay_broker::read_message(const relay::read_message& wanted) {
    life_.may_throw();
    around_.the_broker.read_message(wanted.sequence, [this, life = life_.weak_from_this(),
                                                      epoch = wanted.epoch](const auto& found) {
        if (const auto lasts = life.lock(); lasts && !lasts->is_over()) {
            life_.happens(
                [epoch, found](relay::relay_driver& driver) { driver.message_read(epoch, found); });
        }
    });
}

void relay_broker::mark_stream(relay::mark_stream wanted, const std::string& description) {
    life_.may_throw();
    const auto text = relay::description_to_claim(wanted.owner, description);
    if (!text) {
        life_.happens_after(sim_time(0), [description](relay::relay_driver& driver) {
            driver.stream_marked(description, std::nullopt);
        });
        return;
    }
    around_.the_broker.describe(
        *text, [this, life = life_.weak_from_this(), text = *text](const auto& last_sequence) {
            const auto lasts = life.lock();
            if (!lasts || lasts->is_over()) {
                return;
            }
            life_.happens([text, last_sequence](relay::relay_driver& driver) {
                if (last_sequence) {
                    driver.stream_marked(text, *last_sequence);
                } else {
                    driver.stream_not_marked(last_sequence.error());
                }
            });
        });
}

/// Reads from further and further back until it is far enough.
std::shared_ptr<const relay::stored_rows> relay_broker::stored_in(
    const relay::stored_rows_request& wanted) {
    constexpr std::size_t growth = 8;
    const auto& stream = around_.the_broker.stream();
    const auto first = stream.first_sequence();
    for (auto count = static_cast<std::size_t>(around_.where.random().between(1, 20));;
         count *= growth) {
        const auto last = stream.last_sequence();
        const auto from = std::max(first, last - std::min<std::uint64_t>(count, last) + 1);
        auto rows = std::make_shared<relay::stored_rows>(wanted);
        for (auto each = from; each <= last; ++each) {
            const auto& message = *stream.message(each);
            rows->add(message.sequence, parse_position(message.position), message.id);
        }
        if (from == first || rows->reaches_back()) {
            rows->end(from == first,
                      first == 1 ? relay::removed_messages::none : relay::removed_messages::oldest);
            return rows;
        }
    }
}

void relay_broker::read_stored(relay::read_stored wanted) {
    life_.may_throw();
    const auto takes = around_.where.random().between(sim_time(100), sim_time(50000));
    around_.where.after(takes, life_.if_it_lasts([this, wanted = std::move(wanted)] {
        const auto rows = stored_in(wanted.wanted);
        life_.happens([epoch = wanted.epoch, rows](relay::relay_driver& driver) {
            driver.stored_read(epoch, {rows});
        });
    }));
}

}  // namespace walrelay::sim
