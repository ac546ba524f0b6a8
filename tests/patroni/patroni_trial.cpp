// See patroni_trial.hpp.
#include "patroni/patroni_trial.hpp"

#include "support/eventually.hpp"
#include "support/outbox_events.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <stdexcept>
#include <utility>

namespace walrelay::patroni {
namespace {

using namespace std::chrono_literals;

constexpr auto patience = 120s;
/// A relay that has read everything looks for the newest rows of the tables within a minute.
constexpr auto until_noticed = 75s;
constexpr int halt_code = 3;
constexpr const char* stream_name = "OUTBOX";
constexpr std::uint64_t marker_number = 900'000'000'000;

// A small window: what a relay has not read is in the slot alone.
constexpr const char* relay_text = R"([postgres]
conninfo = "{conninfo}"
slot = "{slot}"
plugin = "{plugin}"
[nats]
urls = ["{url}"]
stream = "{stream}"
subjects = ["events.>"]
[delivery]
window_messages = 64
backoff_max = "2s"
on_slot_loss = "{slot_loss}"
[[outbox]]
table = "public.outbox_events"
subject = "events.{{aggregate_type}}.{{event_type}}"
)";

void write_rows(test::postgres_session& session, std::uint64_t number) {
    constexpr std::uint64_t rows = 3;
    const auto first = (number - 1) * rows + 1;
    // The server does the pacing.
    session.execute("BEGIN; " + test::insert_events(first, first + number % rows) +
                    "; SELECT pg_sleep(0.01); COMMIT");
}

void hold_a_transaction_open(test::postgres_session& session, std::uint64_t /*number*/) {
    session.execute("BEGIN; INSERT INTO other VALUES (1); SELECT pg_sleep(3); COMMIT");
}

std::string last_error_of(const std::string& log) {
    const auto at = log.rfind(" error ");
    const auto begin = at == std::string::npos ? std::string::npos : log.rfind('\n', at);
    const auto from = begin == std::string::npos ? 0 : begin + 1;
    return log.substr(from, log.find('\n', from) - from);
}

}  // namespace

patroni_trial::patroni_trial(trial_options options)
    : options_(std::move(options)), cluster_(options_.cluster), stream_(broker_.url()) {
    configure_relays(false);
    make_tables_and_slot();
    start_relays();
    service_.emplace(cluster_.conninfo(), write_rows);
    wait_for_commits(100);
    if (!stream_.wait_for(stream_name, 100, patience)) {
        throw std::runtime_error("no row comes through; log of the relay:\n" + log_of(0));
    }
    if (!options_.cluster.without_copies) {
        cluster_.wait_for_copies();
    }
}

void patroni_trial::make_tables_and_slot() {
    auto session = cluster_.session();
    session.execute(test::create_outbox_events());
    session.execute("CREATE TABLE other (n int)");
    // Where Patroni makes the slot, the publication has to be there first.
    session.execute(
        "CREATE PUBLICATION walrelay FOR TABLE outbox_events WITH (publish = 'insert', "
        "publish_via_partition_root = true)");
    if (!options_.cluster.failover_slots && !options_.cluster.without_copies) {
        cluster_.keep_slot();
        cluster_.wait_for_slot();
    }
    // Makes the slot itself where nobody else does.
    const auto init = test::run_to_end(words_of({"init"}, "init"), patience);
    if (init.exit_code != 0) {
        throw std::runtime_error("walrelay init: " + init.output + init.errors);
    }
}

void patroni_trial::configure_relays(bool heal) {
    std::ofstream out(folder_.path() / "walrelay.toml");
    out << fmt::format(relay_text, fmt::arg("conninfo", cluster_.conninfo()),
                       fmt::arg("slot", slot_name), fmt::arg("plugin", options_.cluster.plugin),
                       fmt::arg("url", broker_.url()), fmt::arg("stream", stream_name),
                       fmt::arg("slot_loss", heal ? "heal" : "halt"));
    if (!out.flush()) {
        throw std::runtime_error("cannot write the relay's configuration");
    }
}

test::relay_start patroni_trial::words_of(const std::vector<std::string>& words,
                                          const std::string& name) const {
    auto all = words;
    all.insert(all.end(), {"--config", (folder_.path() / "walrelay.toml").string()});
    return {.program = options_.relay_program,
            .arguments = std::move(all),
            .folder = folder_.path(),
            .name = name};
}

void patroni_trial::start_relays() {
    for (unsigned index = 0; index < relays_.size(); ++index) {
        relays_.at(index).emplace(words_of({"run"}, "relay" + std::to_string(index)));
    }
}

void patroni_trial::stop_relays() {
    for (auto& relay : relays_) {
        if (relay && relay->process().running() && relay->stop(patience) != 0) {
            throw std::runtime_error("a relay does not stop; its log:\n" + relay->log());
        }
        relay.reset();
    }
}

std::string patroni_trial::log_of(unsigned index) const {
    const auto& relay = relays_.at(index);
    return relay ? relay->log() : "";
}

void patroni_trial::tend_relays() {
    for (unsigned index = 0; index < relays_.size(); ++index) {
        auto& relay = relays_.at(index);
        if (!relay || relay->process().running()) {
            continue;
        }
        const auto code = relay->process().wait_exit(0ms).value_or(0);
        if (code == halt_code) {
            halted_ = halted_.value_or(index);
            continue;
        }
        odd_ends_.push_back("relay" + std::to_string(index) + " ended with " +
                            std::to_string(code));
        relay.emplace(words_of({"run"}, "relay" + std::to_string(index)));
    }
}

void patroni_trial::wait_for_commits(std::uint64_t more) {
    const auto goal = service_->done() + more;
    const bool done = test::eventually(patience, [&] {
        tend_relays();
        return service_->done() >= goal;
    });
    if (!done) {
        throw std::runtime_error("nobody takes rows any more");
    }
}

void patroni_trial::start_long_transactions() {
    // The second begins in the midst of one of the first.
    long_transactions_[0].emplace(cluster_.conninfo(), hold_a_transaction_open);
    wait_for_commits(100);
    long_transactions_[1].emplace(cluster_.conninfo(), hold_a_transaction_open);
}

bool patroni_trial::has_everything() {
    return compare_all().missing.empty();
}

test::comparison patroni_trial::compare_all() {
    std::vector<std::string> committed;
    for (const auto& row :
         cluster_.session().query("SELECT id FROM outbox_events ORDER BY version")) {
        committed.push_back(row.front().value());
    }
    std::vector<test::seen_event> events;
    stream_.for_each(stream_name, 0, [&](const test::stored_message& message) {
        events.push_back(test::seen(message));
    });
    return test::compare(committed, events);
}

void patroni_trial::wait_for_the_end() {
    cluster_.session().execute(test::insert_event(marker_number));
    const auto has_marker = [&] {
        const auto last = stream_.last(stream_name, "events.>");
        return last && last->header("Nats-Msg-Id") == test::event_id(marker_number);
    };
    const auto halted_or = [&](const auto& condition) {
        return [this, &condition] {
            tend_relays();
            return is_halted() || condition();
        };
    };
    if (!test::eventually(patience, halted_or(has_marker))) {
        throw std::runtime_error("the last row does not come, and no relay halts; log:\n" +
                                 log_of(0) + log_of(1));
    }
    if (!is_halted() && !has_everything()) {
        const auto nothing_more = [] { return false; };
        (void)test::eventually(until_noticed, halted_or(nothing_more));
    }
    // The other one reads it before it takes the slot.
    if (is_halted() && !test::eventually(until_noticed, [&] {
            return std::none_of(relays_.begin(), relays_.end(),
                                [](auto& relay) { return relay && relay->process().running(); });
        })) {
        odd_ends_.emplace_back("one relay has halted, the other one goes on");
    }
}

void patroni_trial::add(verdict& found, const test::comparison& seen) const {
    found.missing = seen.missing.size();
    found.twice = seen.twice.size();
    // What is healed comes after what was written meanwhile.
    found.out_of_order = found.healed ? 0 : seen.out_of_order.size();
    found.lost_by_database = seen.unexpected.size();
    if (found.missing + found.twice + found.out_of_order > 0) {
        found.complaints.push_back((found.halt ? "after the heal: " : "no halt: ") +
                                   test::to_string(seen));
    }
}

verdict patroni_trial::judge() {
    wait_for_commits(200);
    for (auto& each : long_transactions_) {
        each.reset();
    }
    service_->stop();
    cluster_.wait_for_standbys();
    wait_for_the_end();
    verdict found;
    if (is_halted()) {
        judge_halt(found);
        heal(found);
    }
    found.rows = std::stoull(cluster_.session().value_of("SELECT count(*) FROM outbox_events"));
    add(found, compare_all());
    found.complaints.insert(found.complaints.end(), odd_ends_.begin(), odd_ends_.end());
    return found;
}

void patroni_trial::judge_halt(verdict& found) {
    found.halt = last_error_of(log_of(*halted_));
    const auto kept =
        cluster_.session().value_of("SELECT count(*) FROM walrelay.halt WHERE resumed_at IS NULL");
    if (kept != "1") {
        found.complaints.emplace_back("the halt is not kept in walrelay.halt");
    }
    auto& again = relays_.front();
    again.emplace(words_of({"run"}, "again"));
    if (again->process().wait_exit(30s) != halt_code) {
        found.complaints.emplace_back("after the halt, the next start goes on; its log:\n" +
                                      again->log());
        again->kill_9();
    }
}

void patroni_trial::heal(verdict& found) {
    for (auto& relay : relays_) {
        relay.reset();
    }
    halted_.reset();
    const auto resumed = test::run_to_end(words_of({"resume", "--heal"}, "resume"), patience);
    configure_relays(resumed.exit_code != 0);
    start_relays();
    found.healed = true;
    (void)test::eventually(patience, [&] {
        tend_relays();
        return is_halted() || has_everything();
    });
    if (is_halted()) {
        found.complaints.push_back("halts again when it is to heal: " +
                                   last_error_of(log_of(*halted_)));
    }
}

void patroni_trial::keep_logs(const std::filesystem::path& where) {
    std::filesystem::create_directories(where);
    cluster_.keep_logs(where);
    for (const auto& file : std::filesystem::directory_iterator(folder_.path())) {
        std::filesystem::copy(file.path(), where,
                              std::filesystem::copy_options::overwrite_existing);
    }
}

}  // namespace walrelay::patroni
