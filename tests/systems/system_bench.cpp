// See system_bench.hpp.
#include "systems/system_bench.hpp"

#include "support/nats_handles.hpp"

#include <algorithm>
#include <cctype>
#include <fstream>
#include <iostream>
#include <iterator>
#include <stdexcept>

namespace walrelay::test {
namespace {

/// One of each for all tests of a program.
postgres_server& shared_postgres() {
    static postgres_server server;
    return server;
}

nats_server& shared_nats() {
    static nats_server server;
    return server;
}

std::string upper(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(),
                   [](unsigned char letter) { return static_cast<char>(std::toupper(letter)); });
    return text;
}

std::string text_of(const std::filesystem::path& file) {
    std::ifstream in(file);
    if (!in) {
        throw std::runtime_error("cannot read " + file.string());
    }
    return {std::istreambuf_iterator<char>(in), {}};
}

std::string last_part_of(const std::string& text) {
    constexpr std::size_t shown_bytes = 6000;
    return text.size() <= shown_bytes ? text : "..." + text.substr(text.size() - shown_bytes);
}

/// As one JSON object.
std::string as_json(postgres_session& session, const std::map<std::string, std::string>& headers) {
    std::string object = "{}";
    for (const auto& [name, value] : headers) {
        object = *session
                      .query("SELECT $1::jsonb || jsonb_build_object($2::text, $3::text)",
                             {object, name, value})
                      .front()
                      .front();
    }
    return object;
}

}  // namespace

system_bench::system_bench(const std::string& example, std::string plugin)
    : example_(std::filesystem::path(WALRELAY_EXAMPLES_FOLDER) / example),
      plugin_(std::move(plugin)),
      slot_(example),
      stream_(upper(example)),
      database_(shared_postgres().fresh_database()),
      folder_(example) {
    set("WALRELAY_POSTGRES_CONNINFO", conninfo());
    set("WALRELAY_NATS_URLS", nats_url());
    set("WALRELAY_POSTGRES_PLUGIN", plugin_);
    set("WALRELAY_LOG_LEVEL", "debug");
    execute(example_file("schema.sql"));
}

system_bench::~system_bench() {
    if (relay_) {
        relay_->kill_9();
        if (testing::Test::HasFailure()) {
            std::cerr << "---- log of the relay\n" << last_part_of(relay_->log()) << "----\n";
        }
    }
    clean_up();
}

void system_bench::clean_up() noexcept {
    const auto gone = [this] {
        try {
            execute(
                "SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots"
                " WHERE database = current_database() AND NOT temporary");
            return true;
        } catch (const std::runtime_error&) {
            return false;  // still active
        }
    };
    (void)eventually(10s, gone);
    try {
        broker().remove(stream_);
    } catch (const std::runtime_error&) {
        // There was none: the test ended before the first start.
    }
}

std::string system_bench::conninfo() const {
    return shared_postgres().conninfo(database_);
}

std::string system_bench::nats_url() {
    return shared_nats().url();
}

std::string system_bench::example_file(const std::string& name) const {
    return text_of(example_ / name);
}

std::string system_bench::value_of(const std::string& sql) const {
    return session().value_of(sql);
}

std::vector<std::string> system_bench::column_of(const std::string& sql) const {
    std::vector<std::string> values;
    for (const auto& row : session().query(sql)) {
        values.push_back(row.front().value_or("NULL"));
    }
    return values;
}

testing::AssertionResult system_bench::becomes(const std::string& sql,
                                               const std::string& wanted) const {
    auto open = session();
    std::string last;
    const bool reached = eventually(patience, [&] {
        const auto rows = open.query(sql);
        last = rows.empty() ? "no row" : rows.front().front().value_or("NULL");
        return last == wanted;
    });
    if (reached) {
        return testing::AssertionSuccess();
    }
    return testing::AssertionFailure() << sql << " gives " << last << ", not " << wanted;
}

std::string system_bench::of_message(const stored_message& message,
                                     const std::string& expression) const {
    auto open = session();
    return open
        .query("SELECT (" + expression +
                   ")::text FROM (SELECT $1::text AS body, $2::jsonb AS headers) AS message",
               {message.body, as_json(open, message.headers)})
        .front()
        .front()
        .value_or("NULL");
}

void system_bench::write(int times) const {
    const auto sql = example_file("writer.sql");
    auto open = session();
    for (int count = 0; count < times; ++count) {
        open.execute(sql);
    }
}

void system_bench::set(const std::string& variable, const std::string& value) {
    environment_[variable] = value;
}

relay_start system_bench::start_with(const std::vector<std::string>& words) {
    auto file = example_ / "walrelay.toml";
    if (configuration_) {
        file = folder() / "walrelay.toml";
        std::ofstream(file) << *configuration_;
    }
    relay_start how{.program = WALRELAY_BINARY,
                    .arguments = words,
                    .folder = folder(),
                    .environment = environment_,
                    .name = words.front() + std::to_string(++commands_)};
    how.arguments.insert(how.arguments.end(), {"--config", file.string()});
    return how;
}

void system_bench::launch() {
    relay_.emplace(start_with({"run"}));
}

void system_bench::start() {
    launch();
    auto open = session();
    const auto streaming = [&] {
        return !open.query(
                        "SELECT FROM pg_stat_replication JOIN pg_replication_slots"
                        " ON pid = active_pid WHERE slot_name = $1 AND state <> 'startup'",
                        {slot_})
                    .empty();
    };
    const bool started =
        eventually(patience, [&] { return streaming() || !relay_->process().running(); });
    if (!started || !relay_->process().running()) {
        throw std::runtime_error("walrelay does not start; its log:\n" + relay_->log());
    }
}

finished_run system_bench::command(const std::vector<std::string>& words) {
    return run_to_end(start_with(words), patience);
}

void system_bench::stop() {
    const auto code = relay_->stop(patience);
    ASSERT_TRUE(code.has_value()) << "walrelay does not stop";
    EXPECT_EQ(*code, 0);
}

void system_bench::kill_9() {
    relay_->kill_9();
}

stream_reader& system_bench::broker() {
    if (!broker_) {
        broker_ = std::make_unique<stream_reader>(nats_url());
    }
    return *broker_;
}

std::vector<stored_message> system_bench::messages() {
    return broker().read(stream_);
}

std::vector<stored_message> system_bench::messages(std::size_t count) {
    EXPECT_TRUE(broker().wait_for(stream_, count, patience))
        << broker().message_count(stream_) << " messages, not " << count;
    auto found = broker().state(stream_) ? messages() : std::vector<stored_message>();
    EXPECT_EQ(found.size(), count);
    found.resize(count);
    return found;
}

testing::AssertionResult system_bench::verified() {
    const auto run = command({"verify"});
    if (run.exit_code == 0) {
        return testing::AssertionSuccess();
    }
    return testing::AssertionFailure() << run.output << run.errors;
}

std::vector<std::string> ids_of(const std::vector<stored_message>& messages) {
    std::vector<std::string> ids;
    for (const auto& message : messages) {
        ids.push_back(message.header("Nats-Msg-Id"));
    }
    return ids;
}

std::vector<std::string> subjects_of(const std::vector<stored_message>& messages) {
    std::vector<std::string> subjects;
    for (const auto& message : messages) {
        subjects.push_back(message.subject);
    }
    return subjects;
}

std::vector<std::string> bodies_of(const std::vector<stored_message>& messages) {
    std::vector<std::string> bodies;
    for (const auto& message : messages) {
        bodies.push_back(message.body);
    }
    return bodies;
}

}  // namespace walrelay::test
