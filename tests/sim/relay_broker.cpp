// A relay's dealings with the broker, as app/broker_side.cpp and app/relay_driver.cpp have them.

#include "sim/relay_process.hpp"

#include <algorithm>
#include <memory>
#include <utility>

namespace walrelay::sim {

void relay_process::connect_broker(const relay::connect_broker& wanted) {
    const auto epoch = wanted.epoch;
    broker_epoch_ = epoch;
    broker_events events;
    events.on_reply = [this, life = life_, epoch](std::uint64_t index, const std::string& body) {
        if (life == life_) {
            reply_came(epoch, index, body);
        }
    };
    events.on_lost = [this, life = life_, epoch](const error& why) {
        if (life == life_) {
            happens([this, epoch, why](relay::relay_machine& machine) {
                machine.broker_failed(epoch, why, now());
            });
        }
    };
    events.on_stream_info = [this, life = life_, epoch](const std::string& body) {
        if (life == life_) {
            happens([this, epoch, body](relay::relay_machine& machine) {
                machine.stream_answered(epoch, relay::parse_last_sequence(body), now());
            });
        }
    };
    around_.the_broker.connect(std::move(events), wanted.look_back, wanted.asks_for,
                               [this, life = life_, epoch](const result<broker_session>& answer) {
                                   if (life != life_) {
                                       if (answer) {
                                           answer->connection->close();
                                       }
                                       return;
                                   }
                                   happens([this, epoch, answer](relay::relay_machine&) {
                                       broker_answered(epoch, answer);
                                   });
                               });
}

void relay_process::broker_answered(std::uint64_t epoch, const result<broker_session>& answer) {
    if (epoch != broker_epoch_) {
        if (answer) {
            answer->connection->close();
        }
        return;
    }
    if (!answer) {
        machine_->broker_failed(epoch, answer.error(), now());
        return;
    }
    if (around_.the_broker.is_broken() && around_.where.random().chance(500)) {
        answer->connection->close();
        machine_->broker_failed(epoch, {errc::broker_unsuitable, "the stream is sealed"}, now());
        return;
    }
    broker_ = answer->connection;
    auto facts = answer->facts;
    if (around_.defect == canary::no_tail) {
        facts.stream->last_position.reset();
        facts.stream->final_position.reset();
    }
    description_ = facts.stream->description;
    machine_->broker_connected(epoch, facts, now());
}

void relay_process::reply_came(std::uint64_t epoch, std::uint64_t index, const std::string& body) {
    auto outcome = relay::parse_publish_reply(body);
    if (around_.defect == canary::acks_everything) {
        outcome = {relay::outcome_class::stored, predicted_[index], 0, {}};
    }
    around_.where.say(name_, ": reply to ", index, " of epoch ", epoch, ": ", body);
    // The driver takes all replies that one read of the socket held before it obeys.
    const bool last_of_the_read = around_.where.random().chance(700);
    happens(
        [this, epoch, index, outcome](relay::relay_machine& machine) {
            machine.reply_arrived({epoch, index}, outcome, now());
        },
        last_of_the_read);
    if (!last_of_the_read) {
        around_.where.after(sim_time(5),
                            for_this_life([this] { happens([](relay::relay_machine&) {}); }));
    }
}

void relay_process::close_broker() {
    broker_epoch_ = 0;
    if (const auto closing = std::exchange(broker_, nullptr)) {
        closing->close();
    }
}

void relay_process::read_message(const relay::read_message& wanted) {
    around_.the_broker.read_message(
        wanted.sequence, [this, life = life_, epoch = wanted.epoch](const auto& found) {
            if (life == life_) {
                happens([this, epoch, found](relay::relay_machine& machine) {
                    machine.message_read(epoch, found, now());
                });
            }
        });
}

void relay_process::mark_stream(const relay::stream_owner& owner) {
    const auto text = relay::description_to_claim(owner, description_);
    const auto in_this_life = [this, life = life_](const auto& event) {
        if (life == life_) {
            happens(event);
        }
    };
    if (!text) {
        around_.where.after(sim_time(0), [this, in_this_life] {
            in_this_life([this](auto& machine) { machine.stream_marked(std::nullopt, now()); });
        });
        return;
    }
    around_.the_broker.describe(*text, [this, in_this_life, text](const auto& last_sequence) {
        in_this_life([this, text, last_sequence](relay::relay_machine& machine) {
            if (last_sequence) {
                description_ = *text;
                machine.stream_marked(last_sequence, now());
            } else {
                machine.stream_marked(
                    error{errc::broker_lost, "the description cannot be changed", "nothing"},
                    now());
            }
        });
    });
}

/// Reads from further and further back until it is far enough.
std::shared_ptr<const relay::stored_rows> relay_process::stored_in(
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
            rows->end(from == first, first == 1);
            return rows;
        }
    }
}

void relay_process::read_stored(const relay::read_stored& wanted) {
    const auto takes = around_.where.random().between(sim_time(100), sim_time(50000));
    around_.where.after(takes, for_this_life([this, wanted] {
                            const auto rows = stored_in(wanted.wanted);
                            happens([this, epoch = wanted.epoch, rows](relay::relay_machine& to) {
                                to.stored_read(epoch, {rows}, now());
                            });
                        }));
}

}  // namespace walrelay::sim
