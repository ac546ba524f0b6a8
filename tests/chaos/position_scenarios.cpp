// Faults of what a position means, on one server: the configuration changes in the middle of a
// transaction, strangers write positions, a stream is replaced, a halt is overrun. See
// scenario.hpp.
#include "chaos/position_stage.hpp"
#include "chaos/reported_scenarios.hpp"
#include "support/eventually.hpp"
#include "support/outbox_events.hpp"

#include <fmt/format.h>

#include <stdexcept>

namespace walrelay::chaos {
namespace {

using namespace std::chrono_literals;

constexpr std::chrono::milliseconds short_window{100};

enum class ending : std::uint8_t { killed, stopped };

// ---- a table is added to the configuration, or taken from it ------------------------------------

constexpr std::uint64_t first_row = 1;
constexpr std::uint64_t last_row = 4000;
constexpr const char* write_back = "on_published = \"status = 'published'\"\n";

std::string second_outbox(const std::string& keys) {
    return "[[outbox]]\ntable = 'public.more_events'\n" + std::string(usual_outbox) + keys;
}

/// Every other row in the second table.
std::string two_tables_transaction() {
    return fmt::format(
        "BEGIN; DO $$ BEGIN FOR k IN {}..{} BY 2 LOOP "
        "{} {} END LOOP; END $$; COMMIT",
        first_row, last_row, test::insert_event_of("k", "outbox_events"),
        test::insert_event_of("k + 1", "more_events"));
}

void with_two_tables(arena_options& options) {
    options.proxies = true;
    options.duplicate_window = short_window;
    options.delivery = "window_messages = 16\n";
    options.create_table = test::create_outbox_events() +
                           test::create_outbox_events("more_events") +
                           "CREATE PUBLICATION chaos FOR TABLE outbox_events, more_events"
                           " WITH (publish = 'insert', publish_via_partition_root = true)";
}

/// Ends the relay when a part of the transaction is in the stream.
void publish_half(trial& one, ending how) {
    constexpr std::uint64_t part = 900;
    auto& where = one.where();
    where.nats_link().set(direction::to_client, {.latency = 4ms});
    where.session().execute(two_tables_transaction());
    wait_for_messages(where, part);
    if (how == ending::killed) {
        where.relay().kill_9();
    } else {
        stop_relay(one);
    }
    require(test::stream_reader(where.broker_url()).message_count(stream_name) < last_row / 2,
            "the transaction is not half published");
    where.nats_link().heal();
    // Until the broker has forgotten the ids.
    pass(3 * short_window);
}

/// What says that it is published, and is not in the stream.
void require_no_false_write_back(trial& one) {
    const auto stored = ids_in_stream(one.where());
    std::uint64_t count = 0;
    for (const auto& row : one.where().session().query(
             "SELECT id FROM outbox_events WHERE status = 'published' UNION ALL"
             " SELECT id FROM more_events WHERE status = 'published'")) {
        count += stored.contains(row.front().value()) ? 0U : 1U;
    }
    if (count > 0) {
        one.result().complaints.push_back(
            fmt::format("{} rows are written back and were never published", count));
    }
}

enum class change_of_tables : std::uint8_t { added, removed };

void change_tables(trial& one, change_of_tables what, ending how, const std::string& keys) {
    auto& where = one.where();
    const bool added = what == change_of_tables::added;
    where.change().outbox = usual_outbox + keys;
    where.change().more_outboxes = added ? "" : second_outbox(keys);
    begin(one);
    publish_half(one, how);
    where.change().more_outboxes = added ? second_outbox(keys) : "";
    where.start_relay();
    const auto answer = meet(one, {"table"});
    if (answer == response::went_on) {
        stop_relay(one);
    }
    const auto all = ids_of(where, {"outbox_events", "more_events"});
    expected_rows expected{.ids = all};
    if (!added) {
        expected = {.ids = ids_of(where), .excused = without(all, ids_of(where))};
    }
    // Rows of a new table that lie before what the stream had can only come after it.
    expected.in_order = !added;
    judge_rows(one, expected, answer);
    require_no_false_write_back(one);
}

scenario tables_scenario(const std::string& name, const std::string& text, change_of_tables what) {
    const auto variant_of = [what](const std::string& title, ending how, const std::string& keys) {
        return variant{.name = title, .arrange = with_two_tables, .run = [=](trial& one) {
                           change_tables(one, what, how, keys);
                       }};
    };
    auto result = scenario_of(
        name, text,
        {variant_of("kill -9", ending::killed, ""), variant_of("SIGTERM", ending::stopped, ""),
         variant_of("kill -9, on_published", ending::killed, write_back),
         variant_of("SIGTERM, on_published", ending::stopped, write_back)});
    result.every_postgres = true;
    return result;
}

// ---- sole_writer --------------------------------------------------------------------------------

/// One aggregate has half of the rows, so that it lags behind all the others.
void become_sole_writer(trial& one) {
    constexpr std::uint64_t rows = 3000;
    auto& where = one.where();
    where.change().nats = "sole_writer = false\n";
    begin(one);
    where.nats_link().set(direction::to_client, {.latency = 20ms});
    where.session().execute(
        "BEGIN; " + test::insert_events(1, rows) +
        fmt::format("INSERT INTO outbox_events (id, aggregate_id, aggregate_type, event_type, "
                    "event_data, status,"
                    " version, created_at) SELECT ('00000000-0000-0000-0000-' || lpad(n::text, 12, "
                    "'0'))::uuid,"
                    " 'single-' || n, 'order', 'placed', '{{}}', 'pending', n, clock_timestamp()"
                    " FROM generate_series({}, {}) AS n",
                    rows + 1, 2 * rows) +
        "; COMMIT");
    wait_for_messages(where, 200);
    where.relay().kill_9();
    where.nats_link().heal();
    where.change().nats = "sole_writer = true\n";
    where.start_relay();
    const auto answer = meet(one, {"sole_writer"});
    if (answer == response::went_on) {
        stop_relay(one);
    }
    judge_rows(one, {.ids = ids_of(where), .in_order = false}, answer);
}

scenario sole_writer_scenario() {
    return scenario_of("sole_writer_changed",
                       "sole_writer = false, kill -9 in the middle, and true from then on",
                       {{.name = "to true",
                         .arrange = [](arena_options& options) { options.proxies = true; },
                         .run = become_sole_writer}});
}

// ---- strangers ----------------------------------------------------------------------------------

std::string system_identifier(arena& where) {
    return where.session().value_of("SELECT system_identifier FROM pg_control_system()");
}

void forge(trial& one, const std::string& position, bool restarted) {
    constexpr std::uint64_t rows = 100;
    auto& where = one.where();
    begin(one);
    commit_rows(where, 1, rows);
    one.wait_for_marker(recovery_patience);
    if (restarted) {
        where.relay().kill_9();
    }
    test::stream_reader(where.broker_url())
        .publish("chaos.order.placed", "{}",
                 {{"Nats-Msg-Id", "forged"}, {"Walrelay-Position", position}});
    commit_rows(where, rows + 1, 3 * rows);
    if (restarted) {
        where.start_relay();
    }
    const auto answer = meet_and_fix(one, {"position", "tail", "other writer", "stranger"});
    if (answer == response::went_on) {
        stop_relay(one);
    }
    // Where the relay runs, later rows are on their way when the message takes the place of one.
    judge_rows(one, {.ids = ids_of(where), .excused = {"forged"}, .in_order = restarted}, answer);
}

/// Rows from before the slot, which nobody publishes.
void forge_what_was_never_published(trial& one) {
    constexpr std::uint64_t old_rows = 20;
    auto& where = one.where();
    commit_rows(where, 1, old_rows);
    const auto old = ids_of(where);
    begin(one);
    commit_rows(where, old_rows + 1, 2 * old_rows);
    one.wait_for_marker(recovery_patience);
    test::stream_reader reader(where.broker_url());
    const auto first = reader.read(stream_name).front().header("Walrelay-Position");
    for (const auto& id : old) {
        reader.publish("chaos.order.placed", "{}",
                       {{"Nats-Msg-Id", id}, {"Walrelay-Position", first}});
    }
    commit_rows(where, 2 * old_rows + 1, 3 * old_rows);
    (void)meet(one, {"position", "tail", "other writer", "stranger"});
    // Long enough for many rounds of the clean-up.
    (void)test::eventually(
        8s, [&] { return where.session().value_of("SELECT count(*) FROM outbox_events") == "0"; });
    const auto deleted = without(old, ids_of(where));
    if (!deleted.empty()) {
        one.result().complaints.push_back(
            fmt::format("{} rows are deleted that were never published", deleted.size()));
    }
}

scenario forged_scenario() {
    std::vector<variant> variants;
    const auto add = [&](const std::string& name, const std::string& rest, bool restarted) {
        variants.push_back(
            {.name = name + (restarted ? ", restarted" : ", running"), .run = [=](trial& one) {
                 forge(one, system_identifier(one.where()) + rest, restarted);
             }});
    };
    for (const bool restarted : {false, true}) {
        add("four parts", ".1.00000000FFFFFFFF.0", restarted);
        add("five parts", ".1.00000000FFFFFFFF.00000000FFFFFFFF.0", restarted);
        add("old, four parts", ".1.0000000000010000.0", restarted);
        add("old, five parts", ".1.0000000000010000.0000000000010000.0", restarted);
    }
    variants.push_back({.name = "delete_after",
                        .arrange =
                            [](arena_options& options) {
                                options.outbox =
                                    usual_outbox + std::string("delete_after = '1s'\n");
                            },
                        .run = forge_what_was_never_published});
    return scenario_of("forged_position", "a client publishes a message with a position of its own",
                       variants);
}

void replace_stream(trial& one) {
    constexpr std::uint64_t rows = 20;
    auto& where = one.where();
    begin(one);
    commit_rows(where, 1, rows);
    one.wait_for_marker(recovery_patience);
    test::stream_reader reader(where.broker_url());
    const auto count = reader.message_count(stream_name);
    reader.remove(stream_name);
    reader.create({.name = stream_name, .subjects = {all_subjects}});
    for (std::uint64_t number = 0; number < count; ++number) {
        reader.publish("chaos.other.word", "{}",
                       {{"Nats-Msg-Id", "other-" + std::to_string(number)}});
    }
    (void)test::eventually(recovery_patience, [&] { return !where.relay().process().running(); });
    commit_rows(where, rows + 1, 2 * rows);
    if (meet(one, {"stream"}) == response::went_on) {
        one.result().complaints.emplace_back(
            "unnoticed: the relay goes on in a stream that is another one");
    }
}

// ---- a halt is kept -----------------------------------------------------------------------------

bool all_stopped(arena& where, unsigned relays) {
    for (unsigned index = 0; index < relays; ++index) {
        if (where.relay(index).process().running()) {
            return false;
        }
    }
    return true;
}

/// Whoever is started now must end with 3 and publish nothing.
void require_kept_out(trial& one, unsigned relays) {
    auto& where = one.where();
    const auto subject = where.commit_marker();
    (void)test::eventually(recovery_patience,
                           [&] { return where.is_stored(subject) || all_stopped(where, relays); });
    require(!where.is_stored(subject), "a relay goes on after the halt, without walrelay resume");
    require(all_stopped(where, relays), "a relay neither goes on after the halt nor ends");
    for (unsigned index = 0; index < relays; ++index) {
        const auto code = where.relay(index).process().wait_exit(recovery_patience);
        require(code == 3,
                fmt::format("after the halt a relay ends with {}, not with 3", code.value_or(-1)));
    }
}

void keep_halt(trial& one, unsigned relays) {
    auto& where = one.where();
    begin(one);
    commit_rows(where, 1, 20);
    one.wait_for_marker(recovery_patience);
    if (relays > 1) {
        where.start_relay(1);
    }
    lose_power_unguarded(where);
    const auto code = where.relay(0).process().wait_exit(recovery_patience);
    require(code == 3, "the relay does not stop with 3 when the broker has forgotten messages");
    require_kept_out(one, relays);
    for (int restarts = 0; restarts < 2; ++restarts) {
        for (unsigned index = 0; index < relays; ++index) {
            where.start_relay(index);
        }
        require_kept_out(one, relays);
    }
    const auto resumed = where.command({"resume", "--give-up"});
    require(resumed.exit_code == 0, "walrelay resume fails: " + resumed.errors);
    for (unsigned index = 0; index < relays; ++index) {
        where.start_relay(index);
    }
    one.wait_for_marker(recovery_patience);
}

scenario halt_scenario() {
    return scenario_of("halt_is_kept",
                       "a gap that only the relay that runs can see, restarts and a standby",
                       {{.name = "restarts", .run = [](trial& one) { keep_halt(one, 1); }},
                        {.name = "with a standby", .run = [](trial& one) { keep_halt(one, 2); }}});
}

}  // namespace

std::vector<scenario> position_scenarios() {
    return {
        tables_scenario("table_added",
                        "a table is added to the configuration in the middle of a transaction",
                        change_of_tables::added),
        tables_scenario("table_removed",
                        "a table leaves the configuration in the middle of a transaction",
                        change_of_tables::removed),
        sole_writer_scenario(),
        forged_scenario(),
        scenario_of("stream_replaced_idle",
                    "the stream is deleted and filled by somebody else while nothing is written",
                    {{.name = "idle", .run = replace_stream}}),
        halt_scenario()};
}

}  // namespace walrelay::chaos
