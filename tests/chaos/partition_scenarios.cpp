// An outbox in several tables: partitions that go away before they were read, rows that move
// between them, and children by INHERITS. See scenario.hpp.
#include "chaos/position_stage.hpp"
#include "support/eventually.hpp"
#include "support/outbox_events.hpp"

#include <stdexcept>

namespace walrelay::chaos {
namespace {

using namespace std::chrono_literals;

/// The usual table with the keys of a partitioned one.
std::string partitioned_by(const std::string& how, const std::string& key,
                           const std::string& partitions) {
    return test::create_outbox_events("shape") +
           "CREATE TABLE outbox_events (LIKE shape INCLUDING DEFAULTS, PRIMARY KEY (id, " + key +
           ")) PARTITION BY " + how + " (" + key + "); DROP TABLE shape; " + partitions;
}

void with_ranges(arena_options& options) {
    options.create_table = partitioned_by(
        "RANGE", "version",
        "CREATE TABLE outbox_first PARTITION OF outbox_events FOR VALUES FROM (MINVALUE) TO (1000);"
        "CREATE TABLE outbox_rest PARTITION OF outbox_events FOR VALUES FROM (1000) TO (MAXVALUE)");
}

void with_statuses(arena_options& options) {
    options.create_table = partitioned_by(
        "LIST", "status",
        "CREATE TABLE outbox_pending PARTITION OF outbox_events FOR VALUES IN ('pending');"
        "CREATE TABLE outbox_done PARTITION OF outbox_events FOR VALUES IN ('published')");
    options.outbox = usual_outbox + std::string("on_published = \"status = 'published'\"\n");
}

void with_child(arena_options& options) {
    options.create_table =
        test::create_outbox_events() + "CREATE TABLE outbox_child () INHERITS (outbox_events)";
}

void take_partition(trial& one, const std::string& sql) {
    auto& where = one.where();
    begin(one);
    commit_rows(where, 1, 10);
    one.wait_for_marker(recovery_patience);
    where.relay().kill_9();
    commit_rows(where, 11, 60);
    const auto committed = ids_of(where);
    where.session().execute(sql);
    where.start_relay();
    const auto answer = meet(one, {"partition", "outbox_first"});
    if (answer == response::went_on) {
        stop_relay(one);
    }
    auto expected = committed;
    const auto after = without(ids_of(where), committed);
    expected.insert(expected.end(), after.begin(), after.end());
    judge_rows(one, {.ids = expected}, answer);
}

void move_rows(trial& one) {
    auto& where = one.where();
    begin(one);
    commit_rows(where, 1, 100);
    one.wait_for_marker(recovery_patience);
    (void)test::eventually(20s, [&] {
        return !where.relays_run() ||
               where.session().value_of(
                   "SELECT count(*) FROM outbox_events WHERE status = 'pending'") == "0";
    });
    const auto answer = meet(one, {"partition"});
    if (answer == response::went_on) {
        stop_relay(one);
    }
    judge_rows(one, {.ids = ids_of(where)}, answer);
}

/// Refused before anything is lost, by `check` as well; or relayed like the others.
void inherit_rows(trial& one) {
    auto& where = one.where();
    where.start_relay();
    const bool streams = test::eventually(recovery_patience,
                                          [&] { return where.walsender() || !where.relays_run(); });
    require(streams, "the relay neither streams nor ends");
    if (!where.relays_run()) {
        const auto code = where.relay().process().wait_exit(recovery_patience);
        require(code == 3 || code == 2, "the relay ends, but not with 2 or 3");
        require(where.relay_log().find("outbox_child") != std::string::npos,
                "the relay does not name the child table");
        const auto checked = where.command({"check"});
        require(checked.exit_code != 0, "check does not find the child table");
        one.result().reported = "refused";
        return;
    }
    one.wait_for_marker(recovery_patience);
    where.session().execute(test::insert_events(1, 20, "order-1", "outbox_child"));
    const auto answer = meet(one, {"outbox_child"});
    if (answer == response::went_on) {
        stop_relay(one);
    }
    judge_rows(one, {.ids = ids_of(where)}, answer);
}

scenario on_every_server(scenario made) {
    made.every_postgres = true;
    return made;
}

}  // namespace

std::vector<scenario> partition_scenarios() {
    const auto taking = [](const std::string& name, const std::string& what,
                           const std::string& sql) {
        return on_every_server(scenario_of(
            name, what, {{.name = "taken", .arrange = with_ranges, .run = [sql](trial& one) {
                              take_partition(one, sql);
                          }}}));
    };
    return {
        taking("partition_detached", "a partition is detached before its rows were read",
               "ALTER TABLE outbox_events DETACH PARTITION outbox_first"),
        taking("partition_dropped", "a partition is dropped before its rows were read",
               "DROP TABLE outbox_first"),
        on_every_server(scenario_of(
            "partition_moved", "partitioned by status: the relay's own write-back moves each row",
            {{.name = "moved", .arrange = with_statuses, .run = move_rows}})),
        on_every_server(
            scenario_of("inherits", "rows are written to a child table, made by INHERITS",
                        {{.name = "child", .arrange = with_child, .run = inherit_rows}}))};
}

}  // namespace walrelay::chaos
