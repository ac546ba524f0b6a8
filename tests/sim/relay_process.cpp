#include "sim/relay_process.hpp"

#include "relay/machine/relay_words.hpp"
#include "sim/violation.hpp"

#include <algorithm>
#include <utility>
#include <vector>

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
    options.ids = relay::fingerprints_of_ids(tables);
    for (const auto& each : tables) {
        options.duties.push_back({.writes_back = how.write_backs, .republish = each.republish});
    }
    options.confirm_delay = duration_cast<milliseconds>(how.confirm_delay);
    options.heals = how.backfills;
    options.backoff = {duration_cast<milliseconds>(how.backoff_initial),
                       duration_cast<milliseconds>(how.backoff_max)};
    return options;
}

}  // namespace

/// From a start to the end of the process.
class relay_process::life final : public relay_life, public relay::host {
public:
    life(relay_process& of, const relay_surroundings& around)
        : relay_life(around, of.name_, ++of.lives_),
          process_(of),
          driver_(options_of(around.how, configured()), mappers(configured()),
                  around.where.random().next(), *this, broker_, database_),
          broker_(*this),
          database_(*this, broker_) {}

    [[nodiscard]] relay::relay_driver& driver() { return driver_; }
    [[nodiscard]] bool has_streamed() const { return database_.has_streamed(); }
    void pause(sim_time span) {
        // A shorter pause within a longer one ends nothing: what has happened since waits for that
        // end.
        paused_until_ = std::max(paused_until_, around().where.now() + span);
    }

    void happens(const std::function<void(relay::relay_driver&)>& what) override {
        if (is_over_) {
            return;
        }
        if (around().where.now() < paused_until_) {
            around().where.at(paused_until_, if_it_lasts([this, what] { happens(what); }));
            return;
        }
        run(what);
    }
    [[nodiscard]] bool is_over() const override { return is_over_; }

    /// Also where the process stands still. An exception of the surroundings ends the program.
    void run(const std::function<void(relay::relay_driver&)>& what) {
        const auto lasts = shared_from_this();
        try {
            what(driver_);
        } catch (const adapter_failure&) {
            say("ends with an exception");
            process_.told_to_stop_ = false;
            process_.die();
            return;
        }
        if (exit_code_) {
            say("ends with ", *exit_code_);
            process_.exit_code_ = exit_code_;
            process_.die();
            return;
        }
        check_bounds();
    }

    void die() {
        is_over_ = true;
        broker_.close();
        database_.die();
    }

    [[nodiscard]] instant now() override { return relay_life::now(); }
    void wake_at(monotonic_time when) override {
        const auto at = world::from_relay(when);
        wake_at_ = at;
        around().where.at(at, if_it_lasts([this, at] { woken(at); }));
    }
    void write(const relay::write_log& line) override { process_.heard(line); }
    void end(const relay::finish& how) override { exit_code_ = how.exit_code; }

private:
    void woken(sim_time at) {
        if (wake_at_ != at) {
            return;
        }
        happens([this](relay::relay_driver& driver) {
            wake_at_.reset();
            driver.time_passed();
        });
    }
    void check_bounds() const;

    relay_process& process_;
    relay::relay_driver driver_;
    relay_broker broker_;
    relay_database database_;
    std::optional<sim_time> wake_at_;
    sim_time paused_until_{0};
    std::optional<int> exit_code_;
    bool is_over_ = false;
};

void relay_process::life::check_bounds() const {
    const auto& machine = driver_.machine();
    const auto& lane = machine.the_lane();
    if (lane.size() > around().how.window_messages) {
        throw violation("bounded", std::to_string(lane.size()) + " messages in the window");
    }
    if (machine.awaited_write_backs() > relay::write_backs::awaited_rows) {
        throw violation("bounded",
                        std::to_string(machine.awaited_write_backs()) + " rows to be written back");
    }
    if (lane.size_bytes() > around().how.window_bytes + database::max_payload_bytes) {
        throw violation("bounded", std::to_string(lane.size_bytes()) + " bytes in the window");
    }
}

relay_process::relay_process(const relay_surroundings& around, std::string name)
    : around_(around), name_(std::move(name)) {}

relay_process::~relay_process() = default;

void relay_process::start(bool accepts_history, bool skips_startup_check) {
    configured_ = around_.configured;
    around_.where.say(name_, ": starts", configured_.letters ? " with letters" : "",
                      configured_.sole_writer ? "" : " beside others",
                      accepts_history ? " and accepts the history" : "");
    life_ = std::make_shared<life>(*this, around_);
    exit_code_.reset();
    told_to_stop_ = false;
    auto& driver = life_->driver();
    if (accepts_history) {
        driver.accept_history();
    }
    if (skips_startup_check) {
        driver.go_on_without_missing();
    }
    life_->run([](relay::relay_driver& started) { started.start(); });
}

void relay_process::kill() {
    if (!life_) {
        return;
    }
    around_.where.say(name_, ": is killed");
    told_to_stop_ = false;
    die();
}

void relay_process::die() {
    if (const auto ending = std::exchange(life_, nullptr)) {
        ending->die();
    }
}

void relay_process::stop() {
    if (!life_) {
        return;
    }
    told_to_stop_ = true;
    around_.where.say(name_, ": is told to stop");
    life_->happens([](relay::relay_driver& driver) { driver.stop(); });
}

void relay_process::pause(sim_time span) {
    around_.where.say(name_, ": pauses for ", span.count(), " us");
    if (life_) {
        life_->pause(span);
    }
}

bool relay_process::has_streamed() const {
    return life_ && life_->has_streamed();
}

void relay_process::heard(const relay::write_log& line) {
    const auto& text = line.line.text();
    around_.where.say(name_, ": log: ", text);
    constexpr std::string_view orphans = "whose rows this database does not have: sequence ";
    constexpr std::string_view until = " to ";
    if (const auto found = text.find(orphans); found != std::string::npos) {
        const auto last = text.find(until, found + orphans.size()) + until.size();
        around_.watch.on_orphans_named(std::stoull(text.substr(last)));
    }
    if (text.find("going on without messages that are lost") != std::string::npos) {
        around_.watch.on_gap_named();
    }
    if (line.line.severity() == log_severity::error) {
        last_error_ = text;
        reported_a_loss_ = reported_a_loss_ || text.find("has lost") != std::string::npos;
    }
}

}  // namespace walrelay::sim
