#include "incidents/incident.hpp"

#include <algorithm>
#include <iostream>
#include <regex>
#include <utility>

namespace walrelay::test {
namespace {

using clock = std::chrono::steady_clock;

/// Of what is polled: findings, the slot, the dead letters. All else takes some ten seconds at
/// most; a machine that has no time must not fail this.
constexpr std::chrono::seconds all_agree_within{60};

constexpr std::uint64_t last_row = 1'000'000;

std::string with_flag(const std::string& name, bool set) {
    return "\"" + name + "\":" + (set ? "true" : "false");
}

}  // namespace

incident::incident() {
    bench.create_table();
    bench.set_delivery("on_halt = 'stay'\nack_timeout = '5m'\nbackoff_max = '500ms'");
}

void incident::begin(std::map<std::string, std::string> environment) {
    relay.emplace(bench, "relay", std::move(environment));
    ASSERT_TRUE(relay->is("streaming", true, true));
    bench.execute(insert_events(1, 100));
    ASSERT_TRUE(bench.confirms_messages(100)) << relay->process().log();
    strikes();
}

std::string incident::who_differs(const story& of) {
    const auto json = relay->get("/status").body;
    const auto metrics = relay->get("/metrics").body;
    const auto ready = relay->get("/readyz");
    const auto told = of.told.empty() && !of.ready ? of.cause : of.told;
    const std::vector<std::pair<std::string, bool>> surfaces{
        {"/status has another state", has(json, "\"state\":\"" + of.state + "\"")},
        {"/status is not as ready", has(json, with_flag("ready", of.ready))},
        {"/status has another leader", has(json, with_flag("leader", of.leader))},
        {"/status does not say " + told, has(json, of.member.empty() ? told : of.member)},
        {"/readyz is not as ready", ready.status == (of.ready ? 200 : 503)},
        {"/readyz has another state", has(ready.body, of.state)},
        {"/readyz has another cause: " + ready.body,
         of.ready || has(ready.body, of.reason.empty() ? of.cause : of.reason)},
        {"/leader", relay->get("/leader").status == (of.leader ? 200 : 503)},
        {"/healthz", relay->get("/healthz").status == 200},
        {"/metrics has another state",
         has(metrics, "walrelay_state{state=\"" + of.state + "\"} 1\n")},
        {"/metrics has another leader",
         has(metrics, std::string("walrelay_leader ") + (of.leader ? "1\n" : "0\n"))},
        {"the log does not say " + of.cause, has(relay->process().log(), of.cause)}};
    for (const auto& [what, holds] : surfaces) {
        if (!holds) {
            return what;
        }
    }
    const auto said = status();
    auto words = of.state;
    std::ranges::replace(words, '_', ' ');
    const bool agrees = said.exit_code == (of.ready ? 0 : 1) && has(said.output, words + " for ") &&
                        has(said.output, told);
    return agrees ? "" : "walrelay status says\n" + said.output + said.errors;
}

void incident::tells(const story& of) {
    std::string differs;
    const bool agree = eventually(patience, [&] {
        differs = who_differs(of);
        return differs.empty();
    });
    const std::chrono::duration<double> took = clock::now() - struck_at;
    ASSERT_TRUE(agree) << differs << "\n" << relay->get("/status").body << relay->process().log();
    std::cout << "all surfaces say " << of.state << " and its cause after " << took.count()
              << " s\n";
    EXPECT_LT(took, all_agree_within);
    expect_harmless(status().output);
    expect_alerts(of.alerts);
}

incident::reading incident::read_metrics() const {
    return {relay->get("/metrics").body, clock::now()};
}

void incident::expect_alerts_between(const reading& first, const reading& second,
                                     const std::set<std::string>& alerts) const {
    alert_table table(WALRELAY_MONITORING "/alerts.yaml", bench.folder());
    const std::chrono::duration<double> apart = second.at - first.at;
    table.says(first.metrics, second.metrics, apart.count());
    EXPECT_EQ(table.differs_from(alerts), "");
}

void incident::expect_alerts(const std::set<std::string>& alerts) {
    const auto first = read_metrics();
    // Not for anything to happen: the slope of what grows is measured.
    (void)eventually(patience, [&] { return clock::now() - first.at > std::chrono::seconds(2); });
    expect_alerts_between(first, read_metrics(), alerts);
}

void incident::expect_alerts_since(const reading& first, std::set<std::string> alerts) {
    auto second = read_metrics();
    ASSERT_TRUE(eventually(patience, [&] {
        second = read_metrics();
        return has(second.metrics, "\nwalrelay_lag_seconds 0\n");
    })) << relay->process().log();
    if (has(second.metrics, "walrelay_findings{severity=\"warning\"} 1\n")) {
        // It looks when it looks.
        alerts.insert("WalrelayFindings");
    }
    expect_alerts_between(first, second, alerts);
}

void incident::expect_alerts_of_silence(const std::set<std::string>& alerts) {
    alert_table table(WALRELAY_MONITORING "/alerts.yaml", bench.folder());
    table.falls_silent(relay->get("/metrics").body);
    EXPECT_EQ(table.differs_from(alerts), "");
}

void incident::expect_harmless(const std::string& status) {
    const std::regex fix("fix:? +(.*)");
    for (std::sregex_iterator at(status.begin(), status.end(), fix), end; at != end; ++at) {
        const auto all = (*at)[1].str();
        const auto first = all.substr(0, all.find(';'));
        for (const auto* const harm : {"--give-up", "--new-slot", "drop", "DROP", "delete"}) {
            EXPECT_FALSE(has(first, harm)) << status;
        }
    }
}

void incident::is_healed() {
    const auto began = clock::now();
    const auto resumed = bench.command({"resume", "--heal"});
    ASSERT_EQ(resumed.exit_code, 0) << resumed.output << resumed.errors;
    const std::chrono::duration<double> took = clock::now() - began;
    std::cout << "resumed after " << took.count() << " s\n";
    has_each_row_once();
}

std::vector<std::string> incident::stored_ids() {
    std::vector<std::string> stored;
    for (const auto& each : bench.messages()) {
        if (each.header("Walrelay-Replay").empty()) {
            const auto id = each.header("Nats-Msg-Id");
            stored.push_back(id.substr(0, id.find(';')));
        }
    }
    return stored;
}

void incident::has_each_row_once() {
    // With a last row, at which the slot moves: all before it was read, and settled.
    bench.execute(insert_event(last_row));
    const auto end = bench.wal_end();
    auto ids = bench.committed_ids();
    ASSERT_TRUE(eventually(patience, [&] { return stored_ids().size() >= ids.size(); }))
        << relay->process().log();
    ASSERT_TRUE(bench.confirmed_reaches(end)) << relay->process().log();
    auto stored = stored_ids();
    // Healed rows come in the order of their table.
    std::ranges::sort(ids);
    std::ranges::sort(stored);
    EXPECT_EQ(stored, ids);
    ASSERT_TRUE(relay->is("streaming", true, true)) << relay->process().log();
}

void incident::is_about_to_look() {
    ASSERT_TRUE(eventually(patience, [&] { return bench.streaming(); }));
    const auto before = bench.walsender();
    (void)bench.slot("pg_terminate_backend(active_pid)");
    ASSERT_TRUE(eventually(patience, [&] {
        const auto now = bench.walsender();
        return now && now != before && bench.streaming();
    }));
}

void incident::relays_as_a_role(const std::string& rights_on_outbox) {
    const auto init = bench.command({"init"});
    ASSERT_EQ(init.exit_code, 0) << init.errors;
    bench.execute("CREATE ROLE " + role() +
                  " LOGIN REPLICATION; GRANT USAGE ON SCHEMA walrelay TO " + role() +
                  "; GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA walrelay TO " +
                  role() + "; GRANT " + rights_on_outbox + " ON outbox_events TO " + role());
    bench.set_conninfo(bench.conninfo() + " user=" + role());
}

void incident::fill_wal(int megabytes) const {
    for (int each = 0; each < megabytes; ++each) {
        bench.execute("SELECT pg_logical_emit_message(false, 'filler', repeat('x', 1000000))");
    }
}

finished_run incident::status() {
    return run_to_end(
        {.program = WALRELAY_BINARY,
         .arguments = {"status", "--config", (bench.folder() / "walrelay.toml").string()},
         .folder = bench.folder(),
         .environment = {{"WALRELAY_HTTP_LISTEN", "127.0.0.1:" + std::to_string(relay->port())}},
         .name = "status"},
        patience);
}

}  // namespace walrelay::test
