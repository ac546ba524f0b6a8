#include "sim/simulation.hpp"

#include "relay/machine/relay_words.hpp"
#include "sim/violation.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <vector>

namespace walrelay::sim {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class simulation {
public:
    simulation(std::uint64_t seed, canary defect, std::ostream* trace)
        : world_(seed, trace),
          profile_(draw_profile(world_.random())),
          database_(world_, profile_),
          checker_(database_, profile_),
          slot_(world_, profile_, database_, checker_),
          broker_(world_, profile_, checker_),
          harm_dice_(profile_.harm_seed) {
        configured_ = {world_.random().chance(500), profile_.sole_writer};
        letters_were_left_out_ = !configured_.letters;
        const relay_surroundings around{world_,    profile_, slot_,       broker_,
                                        database_, checker_, configured_, defect};
        for (std::size_t index = 0; index < profile_.relays; ++index) {
            relays_.push_back(
                std::make_unique<relay_process>(around, "relay " + std::to_string(index + 1)));
        }
    }

    [[nodiscard]] const profile& the_profile() const { return profile_; }
    void run(verdict& into);
    void sum_up(verdict& into) const;

private:
    void begin();
    void mark_at_once();
    void schedule(mishap which);
    void strike(mishap which);
    void promote();
    void restore();
    void come_back();
    void forge();
    void trim();
    void change_configuration();
    void advance_slot();
    void harms();
    void harm_stream();
    [[nodiscard]] broker::store_loss some_harm();
    [[nodiscard]] bool leaves_letters() const;
    void checkpoints();
    void copies_of_the_slot();
    void run_until(const std::function<bool()>& reached, sim_time at_latest, const char* wanted);
    void supervise();
    void supervise(relay_process& each);
    [[nodiscard]] bool misses_what_was_left_out(const relay_process& each) const;
    void become_calm();
    void stop_in_order();
    [[nodiscard]] bool all_is_told();
    [[nodiscard]] sim_time patience() const;
    relay_process& some_relay() { return *relays_[world_.random().below(relays_.size())]; }

    world world_;
    profile profile_;
    database database_;
    checker checker_;
    slot_server slot_;
    broker broker_;
    /// Aside, so that seeds without such faults tell the same story.
    randomness harm_dice_;
    configuration configured_;
    std::vector<std::unique_ptr<relay_process>> relays_;
    bool operator_was_needed_ = false;
    bool was_restored_ = false;
    bool was_forged_ = false;
    bool was_advanced_ = false;
    bool was_harmed_ = false;
    bool letters_were_left_out_ = false;
    bool left_out_unmarked_ = false;
    bool stopping_ = false;
};

/// Rows of the time before there is a mark are compared by their positions alone, which a stranger
/// can forge (docs/guarantees.md).
void simulation::mark_at_once() {
    const auto line = database_.line();
    relay::stream_owner mark{"slot", "app", line.origin.system_identifier, line.origin.timeline};
    mark.rules = (configured_.sole_writer ? "" : std::string(relay::shared_rules) + "-") +
                 relay::fingerprint_of(tables_of(configured_));
    mark.since = slot_.confirmed();
    broker_.begin_described(to_string(mark));
}

void simulation::begin() {
    if (profile_.has(mishap::forger_writes)) {
        mark_at_once();
    }
    database_.start([this] { slot_.on_wal(); }, [this] { return leaves_letters(); });
    for (auto& each : relays_) {
        world_.after(world_.random().between(sim_time(0), milliseconds(500)), [&each] {
            if (!each->is_running()) {
                each->start();
            }
        });
    }
    for (std::size_t index = 0; index < profile_.intervals.size(); ++index) {
        schedule(static_cast<mishap>(index));
    }
    checkpoints();
    copies_of_the_slot();
    harms();
    supervise();
}

void simulation::schedule(mishap which) {
    const auto interval = profile_.interval(which);
    if (interval == sim_time(0)) {
        return;
    }
    world_.after(world_.random().between(interval / 2, interval + interval / 2), [this, which] {
        if (!world_.is_calm()) {
            strike(which);
            schedule(which);
        }
    });
}

void simulation::strike(mishap which) {
    auto& random = world_.random();
    switch (which) {
        case mishap::broker_cut:
            return broker_.cut();
        case mishap::broker_crash:
            return broker_.crash();
        case mishap::leader_change:
            return broker_.change_leader();
        case mishap::power_loss:
            if (is_cluster(profile_.stream) && random.chance(500)) {
                return broker_.lose_messages();
            }
            return broker_.lose_power();
        case mishap::stranger_writes:
            return broker_.stranger_writes();
        case mishap::forger_writes:
            return forge();
        case mishap::stream_trimmed:
            return trim();
        case mishap::limit_changes:
            return broker_.change_limit();
        case mishap::operator_wanted:
            operator_was_needed_ = true;
            return broker_.break_configuration();
        case mishap::postgres_cut:
            return slot_.cut();
        case mishap::postgres_crash:
            database_.crash();
            slot_.crash();
            world_.after(random.between(milliseconds(10), seconds(5)),
                         [this] { database_.recover(); });
            return;
        case mishap::promotion:
            return promote();
        case mishap::restore:
            return restore();
        case mishap::relay_kill:
            return some_relay().kill();
        case mishap::relay_stop:
            return some_relay().stop();
        case mishap::relay_pause:
            return some_relay().pause(random.between(milliseconds(1), seconds(15)));
        case mishap::slot_dropped:
            return slot_.drop();
        case mishap::slot_advanced:
            return advance_slot();
        case mishap::configuration:
            return change_configuration();
        case mishap::count:
            return;
    }
}

void simulation::checkpoints() {
    world_.after(world_.random().between(milliseconds(100), seconds(20)), [this] {
        slot_.checkpoint();
        checkpoints();
    });
}

void simulation::promote() {
    slot_.promote();
    come_back();
}

void simulation::restore() {
    was_restored_ = true;
    slot_.restore(world_.random().chance(300));
    come_back();
}

/// Another database, and perhaps other things that fail with the old one.
void simulation::come_back() {
    auto& random = world_.random();
    world_.after(random.between(milliseconds(10), seconds(5)), [this] { database_.recover(); });
    if (random.chance(300)) {
        broker_.crash();
    } else if (random.chance(300)) {
        some_relay().kill();
    }
}

/// A position of a row, or near one, or that no row has yet.
void simulation::forge() {
    auto& random = world_.random();
    const auto& events = database_.events();
    position where{database_.line().origin, {lsn{database_.wal_end().value + 800}, {}, 0}};
    if (!events.empty() && !random.chance(200)) {
        const auto newest = std::min<std::uint64_t>(events.size(), 30);
        where.at = events[events.size() - random.between(1, newest)].where;
        where.at.row.value += random.chance(300) ? 8U : 0U;
    }
    was_forged_ = true;
    broker_.forger_writes(where);
}

/// The stream's limits take what is old; here, what the slot will not send again.
void simulation::trim() {
    const auto& all = broker_.stream().messages();
    const auto first_kept = std::find_if(all.begin(), all.end(), [&](const stored_message& each) {
        const auto where = parse_position(each.position);
        return where && where->at.commit >= slot_.least();
    });
    const auto most = static_cast<std::uint64_t>(first_kept - all.begin());
    if (most > 0) {
        broker_.trim(world_.random().between(1, most) + 1);
    }
}

void simulation::change_configuration() {
    auto& random = world_.random();
    const bool knew_letters = configured_.letters;
    configured_.letters = random.chance(500) != configured_.letters;
    if (profile_.sole_writer_changes) {
        configured_.sole_writer = random.chance(500);
    }
    if (random.chance(200)) {
        slot_.change_plugin();
    }
    world_.say("-- another configuration --");
    letters_were_left_out_ = letters_were_left_out_ || !configured_.letters;
    left_out_unmarked_ =
        left_out_unmarked_ || (!knew_letters && configured_.letters && !broker_.is_described());
    if (knew_letters && !configured_.letters) {
        checker_.on_letters_left_out();
    }
    for (auto& each : relays_) {
        if (random.chance(500)) {
            each->kill();
        } else {
            each->stop();
        }
    }
}

/// While no relay runs, or while the one that does looks for its connection.
void simulation::advance_slot() {
    auto& random = world_.random();
    if (random.chance(700)) {
        some_relay().kill();
    } else {
        slot_.cut();
    }
    world_.after(random.between(milliseconds(1), seconds(1)), [this] {
        slot_.advance(some_relay().has_streamed());
        was_advanced_ = true;
    });
}

void simulation::harms() {
    const auto interval = profile_.harm_interval;
    if (interval == sim_time(0)) {
        return;
    }
    world_.after(harm_dice_.between(interval / 2, interval + interval / 2), [this] {
        if (!world_.is_calm()) {
            harm_stream();
            harms();
        }
    });
}

/// While no relay runs, or only one that waits for the slot: what it has seen of the stream, when
/// it was started or while it led, is of another day.
void simulation::harm_stream() {
    was_harmed_ = true;
    const bool all = harm_dice_.chance(500);
    for (auto& each : relays_) {
        if (all || each->has_streamed()) {
            each->kill();
        }
    }
    broker_.harm(some_harm(), slot_.confirmed());
}

broker::store_loss simulation::some_harm() {
    const auto last = broker_.stream().last_sequence();
    switch (harm_dice_.below(profile_.is_swapped ? 4 : 3)) {
        case 0:  // cut by a loss of power, or put back from a copy of the disk
            return {harm_dice_.below(last + 1), 0, false};
        case 1:  // put back from a backup
            return {harm_dice_.below(last + 1), 0, true};
        case 2:  // made again
            return {0, 0, true};
        default:  // another one
            return {0, harm_dice_.skewed(2 * last + 1), true};
    }
}

bool simulation::leaves_letters() const {
    return !configured_.letters ||
           std::any_of(relays_.begin(), relays_.end(), [](const auto& each) {
               return each->is_running() && !each->configured().letters;
           });
}

void simulation::copies_of_the_slot() {
    if (profile_.interval(mishap::promotion) == sim_time(0) &&
        profile_.interval(mishap::restore) == sim_time(0)) {
        return;
    }
    world_.after(world_.random().between(milliseconds(100), seconds(10)), [this] {
        slot_.copy();
        if (database_.is_up() && world_.random().chance(500)) {
            slot_.copy_disk();
        }
        copies_of_the_slot();
    });
}

/// What a service manager does: it starts what has ended; a person mends what only a person can.
void simulation::supervise() {
    world_.after(milliseconds(200), [this] {
        for (auto& each : relays_) {
            supervise(*each);
        }
        supervise();
    });
}

void simulation::supervise(relay_process& each) {
    if (each.is_running() || stopping_) {
        return;
    }
    bool accepts = false;
    bool skips = false;
    if (each.exit_code() == relay::exit_operator_needed) {
        // Whether a stranger moved the slot cannot be told where a standby's copy of it is ahead of
        // one that a crash set back, or that of one restored disk ahead of that of another.
        const bool copy_is_ahead = was_restored_ || (profile_.has(mishap::promotion) &&
                                                     profile_.has(mishap::postgres_crash));
        const bool slot_was_moved = (was_advanced_ || copy_is_ahead) &&
                                    each.last_words().find("stands at LSN") != std::string::npos;
        accepts = (was_restored_ || was_forged_) && each.needs_history_accepted();
        // What a stream that is cut had of before, nobody knows without a witness.
        const bool stream_is_another =
            (was_harmed_ || database_.has_lost_witness()) && each.found_a_gap();
        if (!operator_was_needed_ && !accepts && !slot_was_moved && !stream_is_another &&
            !misses_what_was_left_out(each) && checker_.lost_count() == 0) {
            throw violation("no halt without a cause", each.last_words());
        }
        skips = each.found_a_gap();
        if (each.found_a_gap()) {
            checker_.on_gap_named();
        }
        broker_.mend();
        database_.end_halt();
    }
    if (world_.is_calm() || world_.random().chance(300)) {
        each.start(accepts, skips);
    }
}

/// Beside others the stream has no mark that tells of another configuration, nor where it could not
/// be written; and a database that is restored in place, while its rows are called for, does not
/// have them any more.
bool simulation::misses_what_was_left_out(const relay_process& each) const {
    const bool beside_others = !profile_.sole_writer || profile_.sole_writer_changes;
    return (was_restored_ || left_out_unmarked_ || (letters_were_left_out_ && beside_others)) &&
           each.last_words().find("neither in stream") != std::string::npos;
}

void simulation::run_until(const std::function<bool()>& reached, sim_time at_latest,
                           const char* wanted) {
    constexpr std::size_t steps_max = 5000000;
    for (std::size_t steps = 0; !reached(); ++steps) {
        if (steps > steps_max || !world_.step() || world_.now() > at_latest) {
            throw violation("liveness", std::string(wanted) + " not within " +
                                            std::to_string(at_latest.count() / 1000000) +
                                            " s: first missing row " + checker_.missing_text() +
                                            ", slot at " + to_string(slot_.confirmed()) +
                                            ", WAL at " + to_string(database_.wal_end()));
        }
    }
}

void simulation::become_calm() {
    world_.say("-- no more faults --");
    world_.calm_down();
    database_.stop_writing();
    database_.recover();
    broker_.mend();
}

bool simulation::all_is_told() {
    return checker_.is_complete() && slot_.exists() && slot_.confirmed() == database_.wal_end();
}

/// How long the relay may need when nothing hinders it any more.
sim_time simulation::patience() const {
    auto span = seconds(60) + 2 * profile_.confirm_delay + 4 * profile_.backoff_max +
                4 * profile_.ack_timeout + 4 * profile_.sender_timeout;
    for (const auto& each : database_.events()) {
        // Tried again some times, each behind a back-off, before it becomes a dead letter.
        span += each.defect == poison::refused ? 6 * profile_.backoff_max : sim_time(0);
    }
    if (forgets_no_failed_id(profile_.stream)) {
        // At worst each row waits once for its id to be free again.
        span += (4 + database_.events().size()) * profile_.duplicate_window;
    }
    return span;
}

void simulation::stop_in_order() {
    stopping_ = true;
    for (auto& each : relays_) {
        each->stop();
    }
    run_until(
        [this] {
            for (const auto& each : relays_) {
                if (each->is_running()) {
                    return false;
                }
            }
            return true;
        },
        world_.now() + seconds(30), "a stop in order");
    for (const auto& each : relays_) {
        const bool may_halt = misses_what_was_left_out(*each) || operator_was_needed_ ||
                              was_restored_ || was_forged_ || was_advanced_ || was_harmed_ ||
                              checker_.lost_count() > 0;
        if (each->was_told_to_stop() && each->exit_code() != relay::exit_done && !may_halt) {
            throw violation("a stop in order", "a relay ended with another exit code than 0");
        }
    }
}

void simulation::run(verdict& into) {
    begin();
    run_until([this] { return world_.now() >= profile_.faulty_time; },
              profile_.faulty_time + seconds(60), "the end of the faults");
    become_calm();
    const auto calm_since = world_.now();
    run_until([this] { return all_is_told(); }, calm_since + patience(),
              "all stored and confirmed");
    run_until([this] { return !checker_.to_be_named() && !checker_.has_untold_loss(); },
              world_.now() + patience(), "a moved slot, or a loss, named");
    into.recovery = world_.now() - calm_since;
    stop_in_order();
    checker_.check_orphans(broker_.stream().messages());
}

void simulation::sum_up(verdict& into) const {
    into.rows = database_.events().size();
    into.lost_by_the_broker = checker_.lost_count();
    into.simulated = world_.now();
}

}  // namespace

verdict simulate(std::uint64_t seed, canary defect, std::ostream* trace) {
    verdict reached;
    simulation all(seed, defect, trace);
    reached.profile = describe(all.the_profile());
    try {
        all.run(reached);
    } catch (const violation& broken) {
        reached.violation = broken.what();
    }
    all.sum_up(reached);
    return reached;
}

}  // namespace walrelay::sim
