#include "sim/relay_process.hpp"

#include "sim/violation.hpp"

#include <algorithm>
#include <utility>
#include <variant>

namespace walrelay::sim {
namespace {

std::vector<outbox::table_mapper> mappers(const configuration& wanted) {
    std::vector<outbox::table_mapper> all;
    for (const auto& each : tables_of(wanted)) {
        all.push_back(outbox::table_mapper::make(each).value());
        if (!wanted.sole_writer) {
            all.back().keep_aggregates();
        }
    }
    return all;
}

relay::relay_options options_of(const profile& how, const configuration& wanted) {
    using std::chrono::duration_cast;
    using std::chrono::milliseconds;
    relay::relay_options options;
    options.slot = "slot";
    options.stream = "S";
    options.lane = {how.window_messages, how.window_bytes,
                    duration_cast<milliseconds>(how.ack_timeout), wanted.sole_writer};
    const auto tables = tables_of(wanted);
    options.rules = relay::fingerprint_of(tables);
    for (const auto& each : tables) {
        options.duties.push_back({.writes_back = how.write_backs, .republish = each.republish});
    }
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

void relay_process::start(bool accepts_history, bool skips_roll_call) {
    ++life_;
    earlier_.reset();
    configured_ = around_.configured;
    around_.where.say(name_, ": starts", configured_.letters ? " with letters" : "",
                      configured_.sole_writer ? "" : " beside others",
                      accepts_history ? " and accepts the history" : "");
    machine_ = std::make_unique<relay::relay_machine>(
        options_of(around_.how, configured_), mappers(configured_), around_.where.random().next());
    if (accepts_history) {
        machine_->accept_history();
    }
    exit_code_.reset();
    told_to_stop_ = false;
    calls_roll_ = true;
    goes_on_without_ = skips_roll_call;
    finishing_ = false;
    has_streamed_ = false;
    joined_.reset();
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
                   [this](const relay::store_dead_letters& poison) { set_aside(poison); },
                   [this](const relay::ask_stream&) {
                       if (broker_) {
                           broker_->ask_stream();
                       }
                   },
                   [this](const relay::read_message& one) { read_message(one); },
                   [this](const relay::mark_stream& mark) { mark_stream(mark.owner); },
                   [this](const relay::read_stored& each) { read_stored(each); },
                   [this](const relay::look_for_rows& rows) { look_for_rows(rows); },
                   [this](const relay::leave_out& rows) { leave_out(rows); },
                   [this](const relay::write_back& rows) { write_back(rows); },
                   [this](const relay::fetch_row& row) { fetch_row(row); },
                   [this](const relay::find_blocker& of) {
                       machine_->blocker_found(of.epoch, of.what, std::string("a lock"), now());
                   },
                   [this](const relay::look_at_table& one) { look_at_table(one); },
                   [](const relay::ask_replayed&) {},
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
    constexpr std::string_view orphans = "whose rows this database does not have: sequence ";
    constexpr std::string_view until = " to ";
    if (const auto found = line.text.find(orphans); found != std::string::npos) {
        const auto last = line.text.find(until, found + orphans.size()) + until.size();
        around_.watch.on_orphans_named(std::stoull(line.text.substr(last)));
    }
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
    if (joined_) {
        checker::on_published(sent.position, *joined_);
    }
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
    if (lane.size_bytes() > around_.how.window_bytes + database::max_payload_bytes) {
        throw violation("bounded", std::to_string(lane.size_bytes()) + " bytes in the window");
    }
}

}  // namespace walrelay::sim
