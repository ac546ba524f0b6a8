// See standby_pair.hpp.
#include "chaos/standby_pair.hpp"

#include "chaos/position_stage.hpp"
#include "chaos/program_version.hpp"
#include "support/eventually.hpp"
#include "support/postgres_template.hpp"

namespace walrelay::chaos {
namespace {

using namespace std::chrono_literals;

constexpr int first_with_failover_slots = 17;

bool has_failover_slots(const arena& where) {
    return major_version(postgres_version_of(where.options().postgres_programs)) >=
           first_with_failover_slots;
}

/// As `walrelay init` would, but with a slot that a standby takes over.
void make_failover_slot(arena& where) {
    where.session().execute(
        "CREATE PUBLICATION chaos FOR TABLE outbox_events WITH (publish = 'insert',"
        " publish_via_partition_root = true)");
    where.session().execute("SELECT pg_create_logical_replication_slot('chaos', '" +
                            where.options().plugin + "', false, false, true)");
}

test::postgres_standby& make_standby(arena& where, bool failover_slots) {
    test::standby_options options{.slot = "standby"};
    if (failover_slots) {
        options.settings = {"hot_standby_feedback = on"};
    }
    return where.add_standby(options);
}

}  // namespace

void with_standby_server(arena_options& options) {
    // The standby keeps what the slot needs, as no slot of its own does.
    options.postgres_settings.emplace_back("wal_keep_size = '1GB'");
}

standby_pair::standby_pair(trial& one)
    : one_(one),
      where_(one.where()),
      failover_slots_(has_failover_slots(where_)),
      standby_(make_standby(where_, failover_slots_)) {
    where_.relay_connects_to({&where_.postgres(), &standby_});
    if (failover_slots_) {
        make_failover_slot(where_);
    }
}

void standby_pair::synchronise_slot() {
    if (failover_slots_) {
        const bool synchronised = test::eventually(recovery_patience, [this] {
            auto session = standby_.session(where_.database());
            session.execute("SELECT pg_sync_replication_slots()");
            return session.value_of(
                       "SELECT count(*) FROM pg_replication_slots WHERE slot_name ="
                       " 'chaos' AND synced AND NOT temporary") == "1";
        });
        require(synchronised, "the slot does not come to the standby");
        return;
    }
    // The primary writes its slots down when it stops.
    saved_.emplace("saved");
    where_.postgres().stop(test::postgres_stop::fast);
    where_.postgres().save_disk(saved_->path() / "primary");
    where_.postgres().start();
    one_.wait_for_marker(recovery_patience);
}

void standby_pair::copy_slot() {
    const auto disk = saved_->path() / "standby";
    standby_.stop(test::postgres_stop::fast);
    standby_.save_disk(disk);
    std::filesystem::copy(saved_->path() / "primary" / "pg_replslot" / slot_name,
                          disk / "pg_replslot" / slot_name,
                          std::filesystem::copy_options::recursive);
    // Without the snapshot of its restart_lsn a slot finds its next one far behind, and skips the
    // transactions before it.
    std::filesystem::copy(saved_->path() / "primary" / "pg_logical" / "snapshots",
                          disk / "pg_logical" / "snapshots",
                          std::filesystem::copy_options::recursive |
                              std::filesystem::copy_options::overwrite_existing);
    test::give_to_postgres(disk);
    standby_.restore_disk(disk);
    standby_.start();
}

void standby_pair::fail_over() {
    where_.postgres().kill_9();
    promote();
}

void standby_pair::promote() {
    if (!failover_slots_) {
        copy_slot();
    }
    standby_.promote();
    where_.make_primary(standby_);
}

}  // namespace walrelay::chaos
