#include "incidents/incident.hpp"

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <iterator>
#include <regex>
#include <sstream>
#include <thread>
#include <utility>

namespace walrelay::test {
namespace {

using clock = std::chrono::steady_clock;

/// From a fault to the moment when every surface says so. A server or a row tells the relay of it
/// at once; findings, dead letters and the slot are asked for, up to every minute.
constexpr std::chrono::seconds agree_at_once_within{10};
constexpr std::chrono::seconds agree_after_asking_within{60};

/// The one allowance of these tests: where more wants to run than the machine can, these bounds
/// grow as much as everything else.
double allowance_for_load() {
    double load = 0;
    const auto processors = std::max(1U, std::thread::hardware_concurrency());
    return getloadavg(&load, 1) == 1 ? std::max(1.0, load / processors) : 1.0;
}

/// The first text of the name in a JSON text.
std::string text_of(const std::string& json, const std::string& name) {
    const std::regex member("\"" + name + "\":\"((?:[^\"\\\\]|\\\\.)*)\"");
    std::smatch found;
    return std::regex_search(json, found, member) ? found[1].str() : "";
}

/// `walrelay VERB FLAGS`, without the first word, in the order of a sentence.
std::vector<std::string> commands_in(const std::string& sentence) {
    const std::regex command(
        "walrelay ([a-z]+(-[a-z]+)?( (list|show|retry|resume|cancel)\\b)?( [0-9]+\\b)?"
        "( --[a-z]+(-[a-z]+)*)*)");
    std::vector<std::string> commands;
    for (std::sregex_iterator at(sentence.begin(), sentence.end(), command), end; at != end; ++at) {
        commands.push_back((*at)[1]);
    }
    return commands;
}

bool only_looks(const std::string& command) {
    const std::regex looking(
        "(verify|check|status|find|(dead-letter|bookmark|replay) (list|show))( .*)?");
    return std::regex_match(command, looking);
}

std::vector<std::string> words_of(const std::string& command) {
    std::istringstream words(command);
    return {std::istream_iterator<std::string>(words), {}};
}

/// Those that page and terminal must say as soon as they fire: of the others the surfaces know
/// sooner, or only how things went for minutes.
const std::set<std::string> told_as_attention{"WalrelayClockOff", "WalrelayDeadLetters",
                                              "WalrelaySlotEndangered", "WalrelaySlotRetention"};

constexpr std::uint64_t last_row = 1'000'000;

std::string with_flag(const std::string& name, bool set) {
    return "\"" + name + "\":" + (set ? "true" : "false");
}

}  // namespace

std::chrono::duration<double> agree_within(heard how) {
    const auto bound = how == heard::at_once ? agree_at_once_within : agree_after_asking_within;
    return bound * allowance_for_load();
}

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
         has(ready.body, of.reason.empty() && !of.ready ? of.cause : of.reason)},
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
    for (const auto& alert : of.alerts) {
        if (told_as_attention.contains(alert) && !has(json, "\"alert\":\"" + alert + "\"")) {
            return "/status has no attention for " + alert;
        }
    }
    const auto said = status();
    auto words = of.state;
    std::ranges::replace(words, '_', ' ');
    const bool agrees = said.exit_code == (of.ready ? 0 : 1) && has(said.output, words + " for ") &&
                        has(said.output, told) &&
                        has(said.output, "\nattention ") == !has(json, "\"attention\":[]");
    return agrees ? "" : "walrelay status says\n" + said.output + said.errors;
}

void incident::all_say(const story& of, heard how) {
    std::string differs;
    std::string last;
    const bool agree = eventually(patience, [&] {
        differs = who_differs(of);
        if (!differs.empty()) {
            last = differs.substr(0, differs.find('\n'));
        }
        return differs.empty();
    });
    const std::chrono::duration<double> took = clock::now() - struck_at;
    ASSERT_TRUE(agree) << differs << "\n" << relay->get("/status").body << relay->process().log();
    std::cout << "all surfaces say " << of.state << " and its cause after " << took.count() << " s"
              << (last.empty() ? "" : "; the last to agree: " + last) << "\n";
    EXPECT_LT(took, agree_within(how)) << "at a load that allows " << allowance_for_load();
}

void incident::tells(const story& of, heard how) {
    ASSERT_NO_FATAL_FAILURE(all_say(of, how));
    expect_alerts(of.alerts, of.state);
    takes_first_offer(of.state);
}

incident::reading incident::read_metrics() const {
    return {relay->get("/metrics").body, clock::now()};
}

incident::reading incident::read_metrics_in(const std::string& state) const {
    auto read = read_metrics();
    EXPECT_TRUE(eventually(patience, [&] {
        read = read_metrics();
        return is_in(read, state);
    }));
    return read;
}

void incident::expect_alerts_between(const reading& first, const reading& second,
                                     const std::set<std::string>& alerts) const {
    alert_table table(WALRELAY_MONITORING "/alerts.yaml", bench.folder());
    const std::chrono::duration<double> apart = second.at - first.at;
    table.says(first.metrics, second.metrics, apart.count());
    EXPECT_EQ(table.differs_from(alerts), "");
}

void incident::expect_alerts(const std::set<std::string>& alerts, const std::string& state) {
    const auto first = read_metrics_in(state);
    // Not for anything to happen: the slope of what grows is measured.
    (void)eventually(patience, [&] { return clock::now() - first.at > std::chrono::seconds(2); });
    expect_alerts_between(first, read_metrics_in(state), alerts);
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

void incident::takes_first_offer(const std::string& state) {
    std::string json;
    ASSERT_TRUE(eventually(patience, [&] {
        json = relay->get("/status").body;
        return text_of(json, "state") == state;
    })) << json;
    const auto fix = text_of(json, "fix");
    const bool is_halted = state == "halted";
    EXPECT_TRUE(!is_halted || !fix.empty()) << json;
    offered_ = commands_in(fix);
    const auto attention = commands_in(text_of(json, "command"));
    const bool has_findings = has(json, "\"severity\":\"warning\"");
    if (text_of(json, "reason").empty() && attention.empty() && !has_findings) {
        return;
    }
    // A fix that is no command of ours, such as a GRANT, comes after a look as well.
    const auto first = !offered_.empty()    ? offered_.front()
                       : !attention.empty() ? attention.front()
                                            : "check";
    EXPECT_TRUE(only_looks(first)) << first << " is offered first in: " << fix;
    std::cout << "offered: walrelay " << first << "; of: " << fix << "\n";
    const auto confirmed = bench.slot("confirmed_flush_lsn");
    const auto looked = bench.command(words_of(first));
    // What comes first in a fix is there: after SQL, it would look at what that mends.
    const bool comes_first = fix.empty() || fix.starts_with("walrelay ");
    EXPECT_TRUE(!comes_first || looked.exit_code == 0 || looked.exit_code == 1)
        << looked.exit_code << looked.output << looked.errors;
    EXPECT_FALSE((looked.output + looked.errors).empty());
    if (is_halted) {
        EXPECT_EQ(bench.slot("confirmed_flush_lsn"), confirmed);
        EXPECT_TRUE(relay->comes_to_say("/status", "\"state\":\"halted\""));
    }
}

void incident::takes_offer(const std::string& beginning) {
    const auto offer = std::ranges::find_if(
        offered_, [&](const std::string& each) { return each.starts_with(beginning); });
    ASSERT_NE(offer, offered_.end()) << "nobody offers walrelay " << beginning;
    const auto began = clock::now();
    const auto taken = bench.command(words_of(*offer));
    ASSERT_EQ(taken.exit_code, 0) << *offer << taken.output << taken.errors;
    const std::chrono::duration<double> took = clock::now() - began;
    std::cout << "walrelay " << *offer << " took " << took.count() << " s\n";
}

finished_run incident::run_offer(const std::string& text, const std::string& beginning) {
    const auto offers = commands_in(text);
    const auto offer = std::ranges::find_if(
        offers, [&](const std::string& each) { return each.starts_with(beginning); });
    EXPECT_NE(offer, offers.end()) << "no walrelay " << beginning << " in: " << text;
    return offer == offers.end() ? finished_run{} : bench.command(words_of(*offer));
}

void incident::is_healed() {
    ASSERT_NO_FATAL_FAILURE(takes_offer("resume --heal"));
    has_each_row_once();
}

void incident::large_rows_are_let_through() {
    relay.reset();
    bench.set_delivery("max_row_bytes = '1MiB'");
    relay.emplace(bench, "again");
    const std::string large = "outbox_events WHERE length(event_data::text) > 65536";
    bench.execute("BEGIN; CREATE TEMP TABLE again AS SELECT * FROM " + large + "; DELETE FROM " +
                  large + "; INSERT INTO outbox_events SELECT * FROM again; COMMIT");
}

void incident::a_replay_breaks_off() {
    ASSERT_EQ(bench.command({"init"}).exit_code, 0);
    begin();
    ASSERT_EQ(bench.command({"bookmark", "create", "before"}).exit_code, 0);
    bench.execute(insert_events(101, 1400));
    ASSERT_TRUE(bench.confirms_messages(1400));
    ASSERT_TRUE(bench.confirmed_reaches(bench.wal_end()));
    const auto here = bench.wal_end();
    relay.reset();
    {
        // It waits for a relay after the first of its two batches.
        auto command =
            bench.begin({"replay", "--from", "bookmark:before", "--until", here, "--execute"});
        ASSERT_TRUE(eventually(patience, [&] {
            return bench.session().value_of(
                       "SELECT coalesce(max(rows_written), 0) FROM walrelay.replay") == "1000";
        })) << command.log();
        command.kill_9();
    }
    relay.emplace(bench, "again");
    strikes();
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
