// See relay_bench.hpp.
#include "integration/e2e/relay_bench.hpp"

#include "support/eventually.hpp"

#include <fstream>
#include <iostream>
#include <stdexcept>

namespace walrelay::test {
namespace {

std::string unique_name() {
    static int count = 0;
    return "e2e_" + std::to_string(++count);
}

std::string with_name(std::string text, const std::string& name) {
    for (auto at = text.find('%'); at != std::string::npos; at = text.find('%', at)) {
        text.replace(at, 1, name);
    }
    return text;
}

std::string last_part_of(const std::string& text) {
    constexpr std::size_t shown_bytes = 6000;
    return text.size() <= shown_bytes ? text : "..." + text.substr(text.size() - shown_bytes);
}

constexpr const char* default_outbox = R"(
[[outbox]]
table = "public.outbox_events"
subject = "%.{aggregate_type}.{event_type}"
)";

}  // namespace

postgres_server& shared_postgres() {
    static postgres_server server;
    return server;
}

nats_server& shared_nats() {
    static nats_server server({.settings = {"max_payload: 8MB"}});
    return server;
}

relay_bench::relay_bench(postgres_server& postgres, nats_server& nats, std::string plugin,
                         const std::string& encoding)
    : postgres_(postgres),
      nats_(nats),
      plugin_(std::move(plugin)),
      name_(unique_name()),
      database_(postgres.fresh_database(encoding)),
      conninfo_(postgres.conninfo(database_)),
      outbox_(default_outbox),
      folder_("e2e") {}

relay_bench::~relay_bench() {
    if (relay_) {
        relay_->kill_9();
        if (testing::Test::HasFailure()) {
            std::cerr << "---- log of the relay\n" << last_part_of(relay_->log()) << "----\n";
        }
    }
    drop_slot();
}

void relay_bench::drop_slot() {
    const auto gone = [this] {
        try {
            session().execute(
                "SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots"
                " WHERE slot_name = " +
                as_literal(name_) + " OR starts_with(slot_name::text, " + as_literal(name_ + "_") +
                ")");
            return true;
        } catch (const std::runtime_error&) {
            return false;  // still active, or the server is not there
        }
    };
    (void)eventually(5s, gone);
}

std::string relay_bench::configuration() const {
    const std::string names =
        "slot = '%'\nplugin = '" + plugin_ + "'\npublication = '%'\n" + postgres_settings_ + "\n";
    const std::string broker = "[nats]\nurls = ['" + nats_.url() +
                               "']\nstream = '%'\nsubjects = ['%.>']\n" + nats_settings_ + "\n";
    return "[postgres]\nconninfo = '" + conninfo_ + "'\n" +
           with_name(names + broker + "[delivery]\n" + delivery_ + "\n[replay]\n" + replay_ +
                         "\n[log]\nlevel = 'debug'\n" + outbox_,
                     name_);
}

relay_start relay_bench::start_with(const std::vector<std::string>& words) {
    const auto file = folder() / "walrelay.toml";
    // In one step: a program that was started a moment ago may be reading it.
    const auto written = folder() / ("walrelay.toml." + std::to_string(commands_ + 1));
    std::ofstream(written) << configuration();
    std::filesystem::rename(written, file);
    relay_start how{.program = WALRELAY_BINARY,
                    .arguments = words,
                    .folder = folder(),
                    .name = words.front() + std::to_string(++commands_)};
    how.arguments.insert(how.arguments.end(), {"--config", file.string()});
    return how;
}

finished_run relay_bench::command(const std::vector<std::string>& words) {
    return run_to_end(start_with(words), patience);
}

relay_process relay_bench::begin(const std::vector<std::string>& words) {
    return relay_process(start_with(words));
}

void relay_bench::launch() {
    relay_.emplace(start_with({"run"}));
}

void relay_bench::start() {
    // The walsender of a relay that was killed a moment ago may not have noticed yet.
    const auto before = walsender();
    launch();
    const bool started = eventually(patience, [&] {
        return (streaming() && walsender() != before) || !relay_->process().running();
    });
    if (!started || !relay_->process().running()) {
        throw std::runtime_error("walrelay does not start; its log:\n" + relay_->log());
    }
}

void relay_bench::stop() {
    const auto code = relay_->stop(patience);
    ASSERT_TRUE(code.has_value()) << "walrelay does not stop";
    EXPECT_EQ(*code, 0);
}

void relay_bench::kill_9() {
    relay_->kill_9();
}

stream_reader& relay_bench::broker() {
    if (!broker_) {
        broker_ = std::make_unique<stream_reader>(nats_.url());
    }
    return *broker_;
}

std::vector<stored_message> relay_bench::messages() {
    return broker().read(name_);
}

std::vector<seen_event> relay_bench::events() {
    std::vector<seen_event> events;
    for (const auto& message : broker().read(name_)) {
        events.push_back(seen(message));
    }
    return events;
}

bool relay_bench::wait_until_marked() {
    return eventually(patience, [&] {
        const auto state = broker().state(name_);
        return state && state->description.find(" rules=") != std::string::npos &&
               state->description.find(" rules=comparing") == std::string::npos;
    });
}

bool relay_bench::wait_for_messages(std::uint64_t count) {
    return broker().wait_for(name_, count, patience);
}

bool relay_bench::confirms_messages(std::uint64_t count) {
    return wait_for_messages(count) && confirmed_reaches(wal_end());
}

std::optional<std::string> relay_bench::slot(const std::string& column) {
    try {
        if (!slot_session_) {
            slot_session_.emplace(postgres_.conninfo());
        }
        const auto rows = slot_session_->query(
            "SELECT " + column + " FROM pg_replication_slots WHERE slot_name = $1", {name_});
        return rows.empty() ? std::nullopt : rows.front().front();
    } catch (const std::runtime_error&) {
        slot_session_.reset();
        return std::nullopt;
    }
}

bool relay_bench::streaming() {
    return slot(
               "EXISTS (SELECT FROM pg_stat_replication WHERE pid = active_pid AND state <> "
               "'startup')") == "t";
}

std::optional<std::string> relay_bench::walsender() {
    return slot("active_pid");
}

std::string relay_bench::wal_end() const {
    // Not the insert position: what autovacuum writes may stay unflushed, and then unseen by any
    // consumer, for as long as nobody commits.
    return session().value_of("SELECT pg_current_wal_flush_lsn()");
}

bool relay_bench::confirmed_reaches(const std::string& lsn) {
    return eventually(patience, [&] {
        return slot("confirmed_flush_lsn >= " + as_literal(lsn) + "::pg_lsn") == "t";
    });
}

std::vector<std::string> relay_bench::committed_ids() const {
    std::vector<std::string> ids;
    for (const auto& row : session().query("SELECT id FROM outbox_events ORDER BY version")) {
        ids.push_back(*row.front());
    }
    return ids;
}

void relay_bench::expect_relayed(const std::vector<std::string>& ids) {
    EXPECT_TRUE(wait_for_messages(ids.size()));
    stop();
    EXPECT_TRUE(exactly_once_in_order(ids, events()));
}

testing::AssertionResult exactly_once_in_order(const std::vector<std::string>& committed,
                                               const std::vector<seen_event>& stream) {
    const auto result = compare(committed, stream);
    if (result.flawless()) {
        return testing::AssertionSuccess();
    }
    return testing::AssertionFailure() << to_string(result);
}

std::vector<std::string> event_ids(std::uint64_t first, std::uint64_t last) {
    std::vector<std::string> ids;
    for (auto number = first; number <= last; ++number) {
        ids.push_back(event_id(number));
    }
    return ids;
}

}  // namespace walrelay::test
