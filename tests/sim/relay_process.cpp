#include "sim/relay_process.hpp"

#include "sim/violation.hpp"

#include <algorithm>
#include <utility>
#include <variant>

namespace walrelay::sim {
namespace {

std::vector<outbox::table_mapper> mappers(const profile& how) {
    std::vector<outbox::table_mapper> all;
    all.push_back(outbox::table_mapper::make(database::outbox()).value());
    if (!how.sole_writer) {
        all.back().keep_aggregates();
    }
    return all;
}

relay::relay_options options_of(const profile& how) {
    using std::chrono::duration_cast;
    using std::chrono::milliseconds;
    relay::relay_options options;
    options.slot = "slot";
    options.stream = "S";
    options.lane = {how.window_messages, how.window_bytes,
                    duration_cast<milliseconds>(how.ack_timeout), how.sole_writer};
    options.rules = relay::fingerprint_of({database::outbox()});
    options.duties = {{.writes_back = how.write_backs}};
    options.confirm_delay = duration_cast<milliseconds>(how.confirm_delay);
    options.heals = how.backfills;
    options.backoff = {duration_cast<milliseconds>(how.backoff_initial),
                       duration_cast<milliseconds>(how.backoff_max)};
    return options;
}

std::string header_of(const message& content, std::string_view name) {
    for (std::size_t index = 0; index < content.header_count(); ++index) {
        if (content.header_at(index).name == name) {
            return content.header_at(index).value;
        }
    }
    return {};
}

template <class... Handlers>
struct overloaded : Handlers... {
    using Handlers::operator()...;
};
// Clang 16 does not deduce aggregates by itself.
template <class... Handlers>
overloaded(Handlers...) -> overloaded<Handlers...>;

}  // namespace

relay_process::relay_process(relay_surroundings around, std::string name)
    : around_(around), name_(std::move(name)) {}

// Living and dying.

void relay_process::start() {
    ++life_;
    around_.where.say(name_, ": starts");
    machine_ = std::make_unique<relay::relay_machine>(options_of(around_.how), mappers(around_.how),
                                                      around_.where.random().next());
    exit_code_.reset();
    told_to_stop_ = false;
    finishing_ = false;
    armed_for_.reset();
    paused_until_ = sim_time(0);
    machine_->start();
    settle();
}

void relay_process::kill() {
    if (!machine_) {
        return;
    }
    around_.where.say(name_, ": is killed");
    told_to_stop_ = false;
    die();
}

void relay_process::die() {
    ++life_;
    machine_.reset();
    close_broker();
    close_postgres();
    // Made while the process stood still, and never seen by it.
    if (const auto unseen = std::exchange(offered_, nullptr)) {
        unseen->close();
    }
}

void relay_process::stop() {
    if (!machine_) {
        return;
    }
    told_to_stop_ = true;
    around_.where.say(name_, ": is told to stop");
    happens([this](relay::relay_machine& machine) { machine.stop_requested(now()); });
}

void relay_process::pause(sim_time span) {
    around_.where.say(name_, ": pauses for ", span.count(), " us");
    // A shorter pause within a longer one ends nothing: what has happened since waits for that end.
    paused_until_ = std::max(paused_until_, around_.where.now() + span);
}

std::function<void()> relay_process::for_this_life(std::function<void()> what) {
    return [this, life = life_, what = std::move(what)] {
        if (life == life_ && machine_) {
            what();
        }
    };
}

void relay_process::happens(const std::function<void(relay::relay_machine&)>& what, bool settles) {
    if (!machine_) {
        return;
    }
    if (around_.where.now() < paused_until_) {
        around_.where.at(paused_until_,
                         for_this_life([this, what, settles] { happens(what, settles); }));
        return;
    }
    what(*machine_);
    if (settles) {
        settle();
    }
}

// Obeying.

void relay_process::settle() {
    // An action may report an event at once, which asks for this again.
    if (std::exchange(settling_, true)) {
        return;
    }
    while (machine_) {
        auto wanted = next_action();
        if (!wanted) {
            break;
        }
        obey(*wanted);
    }
    settling_ = false;
    if (!machine_) {
        return;
    }
    check_bounds();
    arm_timer();
    if (postgres_ && !finishing_ && postgres_->has_frame() && machine_->wants_frames()) {
        around_.where.after(sim_time(0), for_this_life([this] { read_frames(); }));
    }
    if (backfill_ && backfill_->ready && !finishing_ && machine_->wants_rows()) {
        around_.where.after(sim_time(0), for_this_life([this] { feed_rows(); }));
    }
}

std::optional<relay::action> relay_process::next_action() {
    const bool full = broker_ && around_.where.now() < full_until_;
    return full ? machine_->next_duty() : machine_->next_action(now().monotonic);
}

void relay_process::obey(relay::action& wanted) {
    std::visit(
        overloaded{[this](const relay::publish& publish) { obey_publish(publish.what); },
                   [this](const relay::send_status& status) {
                       if (postgres_) {
                           postgres_->send_status(status.bytes);
                       }
                   },
                   [this](const relay::connect_broker& connect) { connect_broker(connect); },
                   [this](const relay::close_broker&) { close_broker(); },
                   [this](const relay::connect_postgres& connect) { connect_postgres(connect); },
                   [this](const relay::adopt_slot& adopt) { adopt_slot(adopt.epoch); },
                   [this](const relay::close_postgres&) { close_postgres(); },
                   [this](const relay::finish_postgres&) { finish_postgres(); },
                   [this](const relay::store_dead_letter& poison) { set_aside(poison); },
                   [this](const relay::mark_stream& mark) { mark_stream(mark.owner); },
                   [this](const relay::read_stored& each) { read_stored(each); },
                   // Rows are known by their changes alone here.
                   [](const relay::look_for_rows&) {},
                   [this](const relay::write_back& rows) { write_back(rows); },
                   [](const relay::fetch_row&) {}, [](const relay::ask_replayed&) {},
                   [this](const relay::store_halt& halt) { store_halt(halt); },
                   [this](const relay::write_log& line) { heard(line); },
                   [this](const relay::finish& finish) {
                       around_.where.say(name_, ": ends with ", finish.exit_code);
                       exit_code_ = finish.exit_code;
                       die();
                   }},
        wanted);
}

void relay_process::heard(const relay::write_log& line) {
    around_.where.say(name_, ": log: ", line.text);
    if (line.severity == relay::log_severity::error) {
        last_error_ = line.text;
        reported_a_loss_ = reported_a_loss_ || line.text.find("has lost") != std::string::npos;
    }
}

void relay_process::obey_publish(const relay::outgoing& what) {
    if (!broker_) {
        return;
    }
    const auto& content = *what.content;
    published sent{content.id, content.subject, content.body,
                   header_of(content, "Walrelay-Position"), what.expected_last_sequence};
    if (around_.defect == canary::no_expectation) {
        sent.expected_last_sequence.reset();
    }
    predicted_[what.token.index] = what.expected_last_sequence.value_or(0) + 1;
    around_.where.say(name_, ": publishes ", content.id, " after ",
                      what.expected_last_sequence.value_or(0));
    if (!broker_->publish(what.token.index, std::move(sent))) {
        machine_->broker_failed(broker_epoch_, {errc::broker_lost, "a publish cannot be sent"},
                                now());
    }
    if (around_.where.strikes(around_.how.rate(hazard::connection_full))) {
        full_until_ = around_.where.now() + around_.how.broker_latency;
        around_.where.at(full_until_,
                         for_this_life([this] { happens([](relay::relay_machine&) {}); }));
    }
}

void relay_process::arm_timer() {
    const auto deadline = machine_->deadline();
    if (!deadline) {
        return;
    }
    const auto when = world::from_relay(*deadline);
    if (armed_for_ && *armed_for_ <= when) {
        return;
    }
    armed_for_ = when;
    around_.where.at(when, for_this_life([this, when] {
                         if (armed_for_ != when) {
                             return;
                         }
                         happens([this](relay::relay_machine& machine) {
                             armed_for_.reset();
                             machine.time_passed(now());
                         });
                     }));
}

void relay_process::check_bounds() const {
    const auto& lane = machine_->the_lane();
    if (lane.size() > around_.how.window_messages) {
        throw violation("bounded", std::to_string(lane.size()) + " messages in the window");
    }
    if (machine_->awaited_write_backs() > relay::write_backs::awaited_rows) {
        throw violation("bounded", std::to_string(machine_->awaited_write_backs()) +
                                       " rows to be written back");
    }
    constexpr std::size_t largest_message = 4096;
    if (lane.size_bytes() > around_.how.window_bytes + largest_message) {
        throw violation("bounded", std::to_string(lane.size_bytes()) + " bytes in the window");
    }
}

// The broker.

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

// PostgreSQL.

void relay_process::connect_postgres(const relay::connect_postgres& wanted) {
    postgres_epoch_ = wanted.epoch;
    const bool gap = wanted.gap || around_.source.halt();
    if (around_.how.backfills && (gap || !around_.slot.exists())) {
        connect_snapshot(wanted.epoch, around_.slot.exists());
    } else {
        connect_slot(wanted.epoch);
    }
}

void relay_process::connect_slot(std::uint64_t epoch) {
    replication_events events;
    events.on_readable = [this, life = life_] {
        if (life == life_) {
            read_frames();
        }
    };
    events.on_lost = [this, life = life_, epoch](const error& why) {
        if (life == life_ && !finishing_) {
            happens([this, epoch, why](relay::relay_machine& machine) {
                machine.postgres_failed(epoch, why, now());
            });
        }
    };
    around_.slot.connect(std::move(events),
                         [this, life = life_, epoch](const result<session_handle>& answer) {
                             if (life != life_) {
                                 if (answer) {
                                     (*answer)->close();
                                 }
                                 return;
                             }
                             offered_ = answer ? *answer : nullptr;
                             happens([this, epoch, answer](relay::relay_machine&) {
                                 offered_ = nullptr;
                                 postgres_answered(epoch, answer);
                             });
                         });
}

void relay_process::postgres_answered(std::uint64_t epoch, const result<session_handle>& answer) {
    if (epoch != postgres_epoch_) {
        if (answer) {
            (*answer)->close();
        }
        return;
    }
    if (!answer) {
        machine_->postgres_failed(epoch, answer.error(), now());
        return;
    }
    if (const auto& halt = around_.source.halt(); halt && !around_.how.backfills) {
        (*answer)->close();
        machine_->postgres_failed(epoch, {errc::halted, "the slot is halted: " + *halt}, now());
        return;
    }
    postgres_ = *answer;
    const auto timeout =
        std::chrono::duration_cast<std::chrono::milliseconds>(around_.how.sender_timeout);
    relay::postgres_session session{
        database::origin, relay::table_catalog({database::outbox()}, around_.source.facts()),
        around_.how.plugin, timeout, (*answer)->began_at()};
    session.server = {{database::origin}, around_.source.wal_end()};
    session.database = "app";
    machine_->postgres_connected(epoch, std::move(session), now());
}

void relay_process::read_frames() {
    happens([this](relay::relay_machine& machine) {
        if (finishing_) {
            return;
        }
        // One read of the socket holds some of the frames.
        auto frames = around_.where.random().between(1, 20);
        while (frames-- > 0 && postgres_ && postgres_->has_frame() && machine.wants_frames()) {
            machine.frame_arrived(postgres_->take_frame(), now());
        }
    });
}

void relay_process::mark_stream(const relay::stream_owner& owner) {
    const auto text = relay::description_to_claim(owner, description_);
    if (text && around_.the_broker.describe(*text)) {
        description_ = *text;
        around_.where.say(name_, ": marks the stream: ", *text);
    }
}

void relay_process::read_stored(const relay::read_stored& wanted) {
    mark_stream(wanted.mark);
    const auto takes = around_.where.random().between(sim_time(100), sim_time(50000));
    around_.where.after(takes, for_this_life([this, wanted] {
                            const auto rows = std::make_shared<relay::stored_rows>(wanted.wanted);
                            for (const auto& each : around_.the_broker.stream().messages()) {
                                rows->add(each.sequence, parse_position(each.position), each.id);
                            }
                            rows->end(true, true);
                            happens([this, epoch = wanted.epoch, rows](relay::relay_machine& to) {
                                to.stored_read(epoch, {rows}, now());
                            });
                        }));
}

void relay_process::set_aside(const relay::store_dead_letter& poison) {
    const auto commits_after = around_.where.random().between(sim_time(200), sim_time(20000));
    around_.where.after(commits_after, [this, life = life_, epoch = poison.epoch,
                                        letter = poison.letter] {
        auto stored = around_.source.store_dead_letter(letter, around_.watch);
        // The connection may end when the letter is committed and the relay has not heard of it.
        stored = stored && !around_.where.strikes(around_.how.rate(hazard::frame_cuts_connection));
        if (life == life_) {
            happens([this, epoch, letter, stored](relay::relay_machine&) {
                dead_letter_answered(epoch, letter, stored);
            });
        }
    });
}

void relay_process::dead_letter_answered(std::uint64_t epoch, const dead_letter& letter,
                                         bool stored) {
    if (stored) {
        machine_->dead_letter_stored(epoch, relay::describe(letter), now());
    } else {
        machine_->dead_letter_failed(
            epoch, {errc::postgres_lost, "the connection ended before the commit"}, now());
    }
}

void relay_process::write_back(const relay::write_back& rows) {
    const auto commits_after = around_.where.random().between(sim_time(200), sim_time(20000));
    around_.where.after(commits_after, [this, life = life_, rows] {
        auto committed = around_.source.write_back(rows.batch, around_.watch);
        committed =
            committed && !around_.where.strikes(around_.how.rate(hazard::frame_cuts_connection));
        if (life != life_) {
            return;
        }
        happens([this, epoch = rows.epoch, committed](relay::relay_machine& machine) {
            if (committed) {
                machine.written_back(epoch, now());
                return;
            }
            machine.write_back_failed(
                epoch, {errc::postgres_lost, "the connection ended before the commit"}, now());
        });
    });
}

void relay_process::store_halt(const relay::store_halt& halt) {
    const auto commits_after = around_.where.random().between(sim_time(200), sim_time(20000));
    around_.where.after(commits_after, [this, life = life_, reason = halt.reason] {
        around_.source.keep_halt(reason);
        if (life == life_) {
            happens([this](relay::relay_machine& machine) { machine.halt_stored(now()); });
        }
    });
}

void relay_process::close_postgres() {
    postgres_epoch_ = 0;
    if (const auto closing = std::exchange(postgres_, nullptr)) {
        closing->close();
    }
    close_snapshot();
}

void relay_process::finish_postgres() {
    finishing_ = true;
    if (postgres_) {
        postgres_->finish();
    }
    around_.where.after(
        around_.how.postgres_latency, for_this_life([this] {
            happens([](relay::relay_machine& machine) { machine.postgres_finished(); });
        }));
}

}  // namespace walrelay::sim
