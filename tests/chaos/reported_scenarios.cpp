// See reported_scenarios.hpp.
#include "chaos/reported_scenarios.hpp"

#include "chaos/trial.hpp"
#include "support/eventually.hpp"

#include <stdexcept>

namespace walrelay::chaos {
namespace {

using breaking = void (*)(arena&);

constexpr std::chrono::seconds patience{90};
constexpr int markers = 20;

void require(bool condition, const char* what) {
    if (!condition) {
        throw std::runtime_error(what);
    }
}

void commit_some(arena& where) {
    for (int count = 0; count < markers; ++count) {
        (void)where.commit_marker();
    }
}

/// Rows that are in the slot's WAL, and not in the stream.
void commit_without_relay(arena& where) {
    where.relay().kill_9();
    commit_some(where);
    require(test::eventually(patience, [&] { return !where.walsender(); }),
            "the walsender outlives its relay");
}

void drop_slot(arena& where) {
    const auto dropped = [&] {
        try {
            where.session().execute("SELECT pg_drop_replication_slot('chaos')");
            return true;
        } catch (const std::runtime_error&) {
            return false;  // still active
        }
    };
    require(test::eventually(patience, dropped), "the slot cannot be dropped");
}

void lose_slot(arena& where) {
    commit_without_relay(where);
    drop_slot(where);
    where.start_relay();
}

void recreate_slot(arena& where) {
    commit_without_relay(where);
    drop_slot(where);
    where.session().execute("SELECT pg_create_logical_replication_slot('chaos', '" +
                            where.options().plugin + "')");
    where.start_relay();
}

void advance_slot(arena& where) {
    commit_without_relay(where);
    where.session().execute(
        "SELECT pg_replication_slot_advance('chaos', pg_current_wal_flush_lsn())");
    where.start_relay();
}

/// Another consumer reads what is the relay's.
void steal_from_slot(arena& where) {
    commit_without_relay(where);
    where.session().execute(
        where.options().plugin == "pgoutput"
            ? "SELECT count(*) FROM pg_logical_slot_get_binary_changes('chaos', NULL, NULL,"
              " 'proto_version', '1', 'publication_names', 'chaos')"
            : "SELECT count(*) FROM pg_logical_slot_get_changes('chaos', NULL, NULL)");
    where.start_relay();
}

/// max_slot_wal_keep_size is a megabyte.
void invalidate_slot(arena& where) {
    commit_without_relay(where);
    const auto lost = [&] {
        auto session = where.session();
        session.execute(
            "CREATE TABLE IF NOT EXISTS noise AS SELECT repeat('x', 1000) FROM "
            "generate_series(1, 1000)");
        session.execute("DROP TABLE noise");
        session.execute("SELECT pg_switch_wal()");
        session.execute("CHECKPOINT");
        return session.value_of(
                   "SELECT wal_status FROM pg_replication_slots WHERE slot_name = 'chaos'") ==
               "lost";
    };
    require(test::eventually(patience, lost), "the slot is not invalidated");
    where.start_relay();
}

void keep_little_wal(arena_options& options) {
    options.postgres_settings.emplace_back("max_slot_wal_keep_size = 1MB");
    options.postgres_settings.emplace_back("min_wal_size = 32MB");
}

void seal_stream(arena& where) {
    test::stream_reader(where.broker_url()).seal(stream_name);
    commit_some(where);
}

/// As somebody would who wants to begin anew, while the relay is connected.
void recreate_stream(arena& where) {
    test::stream_reader reader(where.broker_url());
    reader.remove(stream_name);
    reader.create({.name = stream_name, .subjects = {all_subjects}});
    commit_some(where);
}

void delete_stream(arena& where) {
    test::stream_reader(where.broker_url()).remove(stream_name);
    commit_some(where);
}

void require_report(arena& where) {
    const auto code = where.relay().process().wait_exit(patience);
    if (!code) {
        throw std::runtime_error("silent: the relay goes on as if nothing had happened");
    }
    constexpr int operator_must_decide = 3;
    if (*code != operator_must_decide) {
        throw std::runtime_error("the relay ends with " + std::to_string(*code) + ", not with 3");
    }
    require(where.relay_log().find("fix: ") != std::string::npos,
            "the relay does not say what fixes it");
}

void trial_of(trial& one, breaking break_it) {
    one.start();
    commit_some(one.where());
    one.wait_for_marker(patience);
    break_it(one.where());
    ++one.result().times;
    require_report(one.where());
    // The witness of the order of commits has a slot, too.
    if (one.where().options().postgres_settings.empty()) {
        one.judge();
    }
}

scenario reported(const std::string& name, const std::string& what, breaking break_it,
                  const std::function<void(arena_options&)>& arrange = {}) {
    const auto run = [break_it, arrange](const scenario& itself, const storm_plan& plan) {
        outcome result{.fault = itself.name, .plugin = plan.plugin, .reported = "exit 3"};
        auto options = options_for(plan);
        if (arrange) {
            arrange(options);
        }
        while (result.times < plan.times && result.complaints.empty()) {
            run_trial(plan, options, result, [&](trial& one) { trial_of(one, break_it); });
        }
        return result;
    };
    return {.name = name, .what = what, .fire = {}, .long_times = 6, .run = run};
}

}  // namespace

void lose_power_unguarded(arena& where) {
    where.nats().remember_store();
    commit_some(where);
    const auto end = where.session().value_of("SELECT pg_current_wal_flush_lsn()");
    const auto confirmed = [&] {
        return where.session().value_of(
                   "SELECT confirmed_flush_lsn >= " + test::as_literal(end) +
                   "::pg_lsn FROM pg_replication_slots WHERE slot_name = 'chaos'") == "t";
    };
    require(test::eventually(patience, confirmed), "the slot does not move");
    where.nats().kill_9();
    where.nats().restore_store();
    where.nats().start();
}

std::vector<scenario> reported_scenarios() {
    return {
        reported("slot_dropped", "the slot is dropped while the relay is away", lose_slot),
        reported("slot_recreated", "the slot is dropped and made anew behind rows", recreate_slot),
        reported("slot_stolen", "another consumer reads from the slot while the relay is away",
                 steal_from_slot),
        reported("slot_invalidated", "the WAL outgrows max_slot_wal_keep_size", invalidate_slot,
                 keep_little_wal),
        reported("stream_sealed", "the stream is sealed while rows are written", seal_stream),
        reported("stream_recreated", "the stream is deleted and made again", recreate_stream),
        reported("slot_advanced", "somebody moves the slot past rows", advance_slot),
        reported("stream_deleted", "the stream is deleted while rows are written", delete_stream),
        reported("power_loss_unguarded", "nats-server forgets what it acked; confirm_delay = 0s",
                 lose_power_unguarded),
    };
}

}  // namespace walrelay::chaos
