#include "sim/profile.hpp"

#include <algorithm>
#include <initializer_list>
#include <sstream>

namespace walrelay::sim {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::array generation_names{
    "nats-server 2.9, one replica", "nats-server 2.12, one replica",
    "nats-server 2.9, clustered",   "nats-server 2.10.14-2.10.29, clustered",
    "nats-server 2.11, clustered",  "nats-server 2.12, clustered",
};
constexpr std::array<const char*, static_cast<std::size_t>(hazard::count)> hazard_names{
    "publish_dropped", "publish_rejected", "publish_unsendable", "reply_lost",
    "reply_late",      "reply_doubled",    "reply_of_old_epoch", "tail_stale",
    "mark_fails",      "broker_refuses",   "postgres_refuses",   "frame_cuts_connection",
    "slot_lingers",    "connection_full",
};
constexpr std::array<const char*, static_cast<std::size_t>(mishap::count)> mishap_names{
    "broker_cut",     "broker_crash",   "leader_change", "power_loss",      "stranger_writes",
    "forger_writes",  "stream_trimmed", "limit_changes", "operator_wanted", "postgres_cut",
    "postgres_crash", "promotion",      "restore",       "relay_kill",      "relay_stop",
    "relay_pause",    "slot_dropped",   "slot_advanced", "configuration",
};

/// What is not simulated at the moment, because the relay is known to fail there. To be kept empty.
constexpr std::array known_mishaps{mishap::count};
constexpr std::array known_hazards{hazard::count};

template <class Fault, std::size_t Count>
bool is_among(const std::array<Fault, Count>& known, std::size_t which) {
    return std::find(known.begin(), known.end(), static_cast<Fault>(which)) != known.end();
}

void draw_servers(randomness& random, profile& drawn) {
    drawn.stream = static_cast<generation>(random.below(generation_names.size()));
    drawn.plugin = random.chance(500) ? output_plugin::pgoutput : output_plugin::wal2json;
    drawn.sends_empty_transactions = drawn.plugin == output_plugin::wal2json || random.chance(500);
    drawn.duplicate_window = random.pick(
        std::array<sim_time, 4>{milliseconds(200), seconds(2), seconds(20), seconds(120)});
    drawn.sender_timeout =
        random.pick(std::array<sim_time, 4>{seconds(0), seconds(2), seconds(10), seconds(60)});
    drawn.broker_latency =
        random.between(sim_time(100), random.between(milliseconds(1), milliseconds(40)));
    drawn.postgres_latency = random.between(sim_time(100), milliseconds(10));
    drawn.socket_frames = random.skewed(64);
}

void draw_load(randomness& random, profile& drawn) {
    drawn.writers = random.between(1, 4);
    drawn.transactions = random.between(5, 100);
    drawn.rows_max = random.skewed(20);
    drawn.poison = random.chance(300) ? static_cast<std::uint32_t>(random.skewed(100)) : 0;
    drawn.updates = random.chance(300) ? static_cast<std::uint32_t>(random.skewed(200)) : 0;
    drawn.writer_pause = random.between(milliseconds(1), milliseconds(400));
}

void draw_relay(randomness& random, profile& drawn) {
    drawn.relays = random.chance(200) ? 2 : 1;
    drawn.sole_writer = !random.chance(150);
    drawn.sole_writer_changes = random.chance(100);
    drawn.confirm_delay =
        random.chance(300) ? random.between(milliseconds(1), seconds(5)) : sim_time(0);
    drawn.window_messages = random.skewed(64);
    drawn.look_back = 2 * drawn.window_messages + random.skewed(64);
    drawn.window_bytes = random.between(200, 20000);
    drawn.ack_timeout = random.between(2 * drawn.broker_latency + milliseconds(50), seconds(5));
    drawn.backoff_initial = random.between(milliseconds(10), milliseconds(200));
    drawn.backoff_max = random.between(milliseconds(400), seconds(random.chance(200) ? 30 : 3));
    drawn.write_backs = random.chance(400);
}

void draw_faults(randomness& random, profile& drawn) {
    drawn.faulty_time = random.between(seconds(2), seconds(30));
    const auto enabled = random.below(700);
    for (std::size_t index = 0; index < drawn.rates.size(); ++index) {
        const bool wanted = random.chance(enabled);
        const auto rate = static_cast<std::uint32_t>(random.skewed(100));
        drawn.rates[index] = wanted && !is_among(known_hazards, index) ? rate : 0;
    }
    for (std::size_t index = 0; index < drawn.intervals.size(); ++index) {
        const bool wanted = random.chance(enabled);
        const auto interval = random.between(milliseconds(100), drawn.faulty_time);
        drawn.intervals[index] = wanted && !is_among(known_mishaps, index) ? interval : sim_time(0);
    }
}

sim_time& interval_of(profile& drawn, mishap which) {
    return drawn.intervals[static_cast<std::size_t>(which)];
}

void forbid(profile& drawn, std::initializer_list<mishap> all) {
    for (const auto which : all) {
        interval_of(drawn, which) = sim_time(0);
    }
}

/// Where walrelay is not alone, only the duplicate window tells what is stored.
void respect_others(profile& drawn) {
    if (forgets_no_failed_id(drawn.stream)) {
        // An id that failed once is refused for the whole window: a long one would only be waited
        // for, a short one is no protection beside others.
        forbid(drawn, {mishap::stranger_writes, mishap::forger_writes});
        drawn.sole_writer = true;
        drawn.sole_writer_changes = false;
        drawn.duplicate_window = std::min<sim_time>(drawn.duplicate_window, seconds(1));
    }
    if (drawn.has(mishap::forger_writes)) {
        // Rows of another configuration are compared by their positions alone, and what a stream
        // has dropped by its first position: both can be forged (docs/guarantees.md).
        forbid(drawn, {mishap::configuration, mishap::stream_trimmed});
        // So are rows of the time before a mark could be written. And what tells that a row is
        // missing in whose place there is a forged message are the messages around it.
        drawn.rates[static_cast<std::size_t>(hazard::mark_fails)] = 0;
        drawn.look_back += 1024;
    }
    drawn.sole_writer_changes = drawn.sole_writer_changes && drawn.has(mishap::configuration);
    if (drawn.has(mishap::configuration)) {
        // What an ended relay sent can arrive a second later, and fit in where other rows have its
        // sequences now: then its id alone tells (docs/guarantees.md).
        drawn.duplicate_window = std::max<sim_time>(drawn.duplicate_window, seconds(2));
    }
    if (drawn.has_strangers()) {
        // Two relays and a stranger: a row that is stored can be taken for one whose id is used.
        drawn.relays = 1;
    }
    if (drawn.has_strangers() || !drawn.orders_all()) {
        drawn.duplicate_window = std::chrono::hours(1);
    }
    if (drawn.has(mishap::stranger_writes) || !drawn.orders_all()) {
        // Beside others nothing tells that a row which is too large now is in the stream already.
        forbid(drawn, {mishap::limit_changes});
    }
}

/// What a broker may forget is promised only as far back as the slot is held.
void respect_power(profile& drawn) {
    // A stranger in the stream and a broker that forgets: two conditions of the promise are broken
    // at once, and what is still known is not enough (docs/guarantees.md).
    if (drawn.has_strangers()) {
        forbid(drawn, {mishap::power_loss});
    }
    if (!is_cluster(drawn.stream)) {
        forbid(drawn, {mishap::leader_change});
    }
    if (drawn.has(mishap::power_loss)) {
        drawn.forgets = drawn.confirm_delay > sim_time(0) ? drawn.confirm_delay : seconds(3);
    }
}

void respect_the_promise(profile& drawn) {
    respect_others(drawn);
    respect_power(drawn);
    // What is healed comes behind what the stream has, so that the order of what a broker forgets
    // for good is not that of the commits.
    drawn.backfills = drawn.backfills && drawn.orders_all() && !drawn.has_strangers() &&
                      (!drawn.has(mishap::power_loss) || drawn.confirm_delay > sim_time(0));
    if (!drawn.backfills) {
        forbid(drawn, {mishap::slot_dropped});
    } else {
        // The table does not hold that a row was to be published again, and the stream not what
        // was trimmed.
        drawn.updates = 0;
        forbid(drawn, {mishap::promotion, mishap::configuration, mishap::stream_trimmed});
    }
    // A history that is refused, and a stream that has lost messages: two things for an operator to
    // decide at once.
    if (drawn.backfills || drawn.has(mishap::power_loss) || drawn.has_strangers()) {
        forbid(drawn, {mishap::restore});
    }
    if (drawn.has(mishap::restore)) {
        // Rows of another configuration are compared by their positions alone, which the restored
        // database uses again.
        forbid(drawn, {mishap::configuration});
        drawn.sole_writer_changes = false;
    }
}

/// Two relays that take backfills from each other again and again, which chance makes too seldom.
void contest_backfills(randomness& random, profile& drawn) {
    drawn.backfills = true;
    drawn.sole_writer = true;
    drawn.relays = 2;
    drawn.duplicate_window = milliseconds(200);
    forbid(drawn, {mishap::stranger_writes, mishap::forger_writes});
    for (const auto often : {mishap::slot_dropped, mishap::postgres_cut, mishap::broker_cut}) {
        interval_of(drawn, often) = random.between(milliseconds(200), milliseconds(1500));
    }
}

/// A relay that lives through restores again and again, with much that it has not yet confirmed.
void restore_often(randomness& random, profile& drawn) {
    drawn.backfills = false;
    drawn.sole_writer = true;
    drawn.sole_writer_changes = false;
    drawn.confirm_delay = random.between(milliseconds(500), seconds(5));
    drawn.writer_pause = random.between(milliseconds(1), milliseconds(60));
    drawn.transactions = random.between(60, 200);
    forbid(drawn, {mishap::stranger_writes, mishap::forger_writes, mishap::power_loss,
                   mishap::relay_kill, mishap::configuration});
    interval_of(drawn, mishap::restore) = random.between(milliseconds(500), seconds(3));
}

/// Tables come and go again and again, while the slot goes back, and the relay sees little of what
/// it has published, and often cannot say what holds for it.
void configure_often(randomness& random, profile& drawn) {
    drawn.backfills = false;
    drawn.window_messages = random.between(1, 6);
    drawn.look_back = 2 * drawn.window_messages;
    drawn.rates[static_cast<std::size_t>(hazard::mark_fails)] = 60;
    forbid(drawn, {mishap::stranger_writes, mishap::forger_writes, mishap::power_loss});
    for (const auto often : {mishap::configuration, mishap::postgres_crash}) {
        interval_of(drawn, often) = random.between(milliseconds(300), seconds(2));
    }
}

/// Somebody forges positions again and again, while connections break.
void forge_often(randomness& random, profile& drawn) {
    drawn.backfills = false;
    drawn.stream = random.pick(std::array{generation::single_2_9, generation::single_2_12,
                                          generation::cluster_2_9, generation::cluster_2_12});
    for (const auto often : {mishap::forger_writes, mishap::broker_cut, mishap::postgres_crash}) {
        interval_of(drawn, often) = random.between(milliseconds(200), milliseconds(1500));
    }
}

/// Somebody moves the slot past rows again and again, while no relay streams from it.
void advance_often(randomness& random, profile& drawn) {
    drawn.backfills = false;
    drawn.sole_writer = true;
    drawn.sole_writer_changes = false;
    drawn.relays = 1;
    // Of the whole stream: rows before what is seen of it count as stored where a crash takes the
    // slot back.
    drawn.look_back += 4000;
    // What a killed relay sent can fit in between rows that the slot was moved to.
    drawn.has_stragglers = false;
    // What a stale leader hides looks like what another relay has published since, whose right it
    // is to move the slot.
    drawn.rates[static_cast<std::size_t>(hazard::tail_stale)] = 0;
    forbid(drawn, {mishap::stranger_writes, mishap::forger_writes, mishap::stream_trimmed,
                   mishap::power_loss, mishap::promotion, mishap::restore, mishap::configuration});
    interval_of(drawn, mishap::slot_advanced) = random.between(milliseconds(500), seconds(5));
}

/// The stream forgets again and again beside others, where only a later ack tells, and most often
/// with no connection ended.
void forget_often(randomness& random, profile& drawn) {
    drawn.backfills = false;
    drawn.sole_writer = false;
    drawn.sole_writer_changes = false;
    drawn.stream = random.pick(std::array{generation::cluster_2_9, generation::cluster_2_12});
    drawn.relays = 1;
    drawn.confirm_delay = random.between(milliseconds(500), seconds(3));
    drawn.writer_pause = random.between(milliseconds(1), milliseconds(60));
    drawn.transactions = random.between(60, 200);
    forbid(drawn, {mishap::stranger_writes, mishap::forger_writes, mishap::relay_kill,
                   mishap::configuration, mishap::slot_advanced});
    interval_of(drawn, mishap::power_loss) = random.between(milliseconds(500), seconds(3));
}

/// Whether a relay that begins takes a stream that has lost its half for a quiet day.
void harm_often(randomness& random, profile& drawn) {
    drawn.backfills = false;
    drawn.relays = random.between(1, 2);
    drawn.harm_interval = random.between(milliseconds(500), seconds(8));
    // Two relays and a stranger: see respect_others.
    drawn.is_swapped = drawn.relays == 1 && !forgets_no_failed_id(drawn.stream);
    if (drawn.is_swapped) {
        drawn.duplicate_window = std::chrono::hours(1);
    }
    // What a killed relay sent can fit in where the stream was cut.
    drawn.has_stragglers = false;
    // What a stale server hides is looked for again until it is there, or taken for lost.
    drawn.rates[static_cast<std::size_t>(hazard::tail_stale)] = 0;
    forbid(drawn, {mishap::stranger_writes, mishap::forger_writes, mishap::stream_trimmed,
                   mishap::power_loss, mishap::promotion, mishap::restore, mishap::slot_dropped,
                   mishap::slot_advanced, mishap::configuration});
}

double in_seconds(sim_time span) {
    return std::chrono::duration<double>(span).count();
}

}  // namespace

const char* to_string(generation which) {
    return generation_names[static_cast<std::size_t>(which)];
}

const char* to_string(hazard which) {
    return hazard_names[static_cast<std::size_t>(which)];
}

const char* to_string(mishap which) {
    return mishap_names[static_cast<std::size_t>(which)];
}

profile draw_profile(randomness& random) {
    profile drawn;
    draw_servers(random, drawn);
    draw_load(random, drawn);
    draw_relay(random, drawn);
    draw_faults(random, drawn);
    drawn.backfills = random.chance(300);
    if (random.chance(200)) {
        contest_backfills(random, drawn);
    } else if (random.chance(450)) {
        const std::array often{restore_often, configure_often, configure_often, forge_often};
        random.pick(often)(random, drawn);
    }
    forbid(drawn, {mishap::slot_advanced});
    if (random.chance(30)) {
        advance_often(random, drawn);
    } else if (random.chance(30)) {
        forget_often(random, drawn);
    }
    respect_the_promise(drawn);
    if (drawn.poison > 0 && drawn.duplicate_window < seconds(1)) {
        // Behind a row that is set aside all others move up by one, to where what an ended
        // connection sent can fit in: then its id alone tells, as long as the broker keeps it.
        drawn.has_stragglers = false;
    }
    randomness aside = random;
    drawn.throws_seed = aside.next();
    drawn.throws_per_million =
        aside.chance(250) ? static_cast<std::uint32_t>(aside.skewed(3000)) : 0;
    drawn.replay_seed = aside.next();
    // A backfill reads tables, which hold no replays.
    const bool replays = aside.chance(150) && !drawn.backfills;
    drawn.replays = replays ? static_cast<std::uint32_t>(aside.skewed(300)) : 0;
    drawn.forged_acks_seed = aside.next();
    // Somebody else's message in the place of one that never came would hide that.
    const bool forges = aside.chance(150) && !drawn.has_strangers();
    drawn.forged_acks_per_million = forges ? static_cast<std::uint32_t>(aside.skewed(20000)) : 0;
    drawn.harm_seed = aside.next();
    // Beside others, a stream that forgets is simulated by itself: forget_often.
    if (aside.chance(60) && drawn.orders_all()) {
        harm_often(aside, drawn);
    }
    // A restored database uses its timeline again, so that nothing tells the messages apart.
    drawn.ids_come_again =
        aside.chance(400) && drawn.has(mishap::promotion) && !drawn.has(mishap::restore);
    return drawn;
}

std::string describe(const profile& drawn) {
    std::ostringstream text;
    text << "  broker: " << to_string(drawn.stream) << ", duplicate window "
         << in_seconds(drawn.duplicate_window) << " s, latency to "
         << in_seconds(drawn.broker_latency) << " s\n  PostgreSQL: " << to_string(drawn.plugin)
         << (drawn.sends_empty_transactions ? ", sends" : ", skips")
         << " empty transactions, wal_sender_timeout " << in_seconds(drawn.sender_timeout)
         << " s, latency to " << in_seconds(drawn.postgres_latency) << " s, " << drawn.socket_frames
         << " frames in the socket\n  load: " << drawn.writers << " writers, " << drawn.transactions
         << " transactions of up to " << drawn.rows_max << " rows, pause to "
         << in_seconds(drawn.writer_pause) << " s, " << drawn.poison << "/1000 poison, "
         << drawn.updates << "/1000 are published again\n  relay: " << drawn.relays << " of it, "
         << (drawn.sole_writer ? "sole writer" : "beside others")
         << (drawn.sole_writer_changes ? " and the other way around" : "")
         << (drawn.write_backs ? ", writes back" : "") << ", confirm delay "
         << in_seconds(drawn.confirm_delay) << " s, " << (drawn.backfills ? "backfills, " : "")
         << "window " << drawn.window_messages << " messages, looks back over " << drawn.look_back
         << ", " << drawn.window_bytes << " bytes, ack timeout " << in_seconds(drawn.ack_timeout)
         << " s, back-off " << in_seconds(drawn.backoff_initial) << " to "
         << in_seconds(drawn.backoff_max) << " s\n  faults for " << in_seconds(drawn.faulty_time)
         << " s:";
    for (std::size_t index = 0; index < drawn.rates.size(); ++index) {
        if (drawn.rates[index] > 0) {
            text << ' ' << hazard_names[index] << '=' << drawn.rates[index] << "/1000";
        }
    }
    for (std::size_t index = 0; index < drawn.intervals.size(); ++index) {
        if (drawn.intervals[index] > sim_time(0)) {
            text << ' ' << mishap_names[index] << "=every " << in_seconds(drawn.intervals[index])
                 << " s";
        }
    }
    if (drawn.replays > 0) {
        text << " replays=" << drawn.replays << "/1000";
    }
    if (drawn.throws_per_million > 0) {
        text << " a call throws=" << drawn.throws_per_million << "/1000000";
    }
    if (drawn.forged_acks_per_million > 0) {
        text << " acks are forged=" << drawn.forged_acks_per_million << "/1000000";
    }
    if (drawn.ids_come_again) {
        text << " ids come again";
    }
    if (drawn.harm_interval > sim_time(0)) {
        text << " the stream is harmed=every " << in_seconds(drawn.harm_interval) << " s";
    }
    text << '\n';
    return text.str();
}

}  // namespace walrelay::sim
