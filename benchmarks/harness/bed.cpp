#include "harness/bed.hpp"

#include "support/eventually.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <poll.h>

#include <algorithm>
#include <fstream>
#include <regex>
#include <stdexcept>

namespace walrelay::bench {
namespace {

using clock_type = std::chrono::steady_clock;

/// For a machine that others use as well.
constexpr std::chrono::seconds patience{120};
constexpr const char* writer = "writer";
constexpr std::uint64_t first_sample = 900'000'000'000;

std::vector<std::string> as_users_have_it(std::vector<std::string> more) {
    std::vector<std::string> lines = {"fsync = on", "full_page_writes = on",
                                      "shared_buffers = 128MB", "max_wal_size = 16GB"};
    lines.insert(lines.end(), more.begin(), more.end());
    return lines;
}

/// The options in the last START_REPLICATION of the server's log.
plugin_options options_in(const std::string& log) {
    const auto command = log.rfind("START_REPLICATION SLOT");
    if (command == std::string::npos) {
        throw std::runtime_error("PostgreSQL's log has no START_REPLICATION");
    }
    const auto line = log.substr(command, log.find('\n', command) - command);
    const std::regex option("\"([^\"]+)\" '((?:[^']|'')*)'");
    plugin_options found;
    const auto list = line.substr(line.find('('));
    for (std::sregex_iterator each(list.begin(), list.end(), option), end; each != end; ++each) {
        found.emplace_back((*each)[1], (*each)[2]);
    }
    return found;
}

double seconds_since(clock_type::time_point start) {
    return std::chrono::duration<double>(clock_type::now() - start).count();
}

}  // namespace

bed::bed(programs with, std::vector<std::string> postgres_settings, const broker_kind& brokers)
    : postgres({as_users_have_it(std::move(postgres_settings))}),
      nats(brokers),
      tools_(std::move(with)),
      url_(nats.url()),
      reader_(nats.url()) {
    auto session = postgres.session();
    create_tables(session);
    session.execute(fmt::format("CREATE ROLE {} LOGIN SUPERUSER", writer));
}

std::string bed::writer_conninfo() const {
    return fmt::format("host=127.0.0.1 port={} user={} dbname=postgres", postgres.port(), writer);
}

std::filesystem::path bed::message_file() const {
    return folder_.path() / "message.json";
}

const plugin_options& bed::options_of(const std::string& plugin) const {
    return options_.at(plugin);
}

void bed::write_settings(const std::string& plugin) const {
    std::ofstream out(folder_.path() / (plugin + ".toml"));
    out << fmt::format(
        "[postgres]\nconninfo = \"{}\"\nplugin = \"{}\"\n\n[nats]\nurls = [\"{}\"]\n"
        "replicas = {}\n\n[[outbox]]\ntable = \"{}\"\nbody = \"{}\"\n",
        postgres.conninfo(), plugin, std::regex_replace(url_, std::regex(","), "\", \""),
        nats.replicas(), outbox_table, body_);
    if (!out.flush()) {
        throw std::runtime_error("cannot write into " + folder_.path().string());
    }
}

test::relay_start bed::how(const std::string& command, const std::string& plugin) const {
    return {tools_.walrelay,
            {command, "--config", (folder_.path() / (plugin + ".toml")).string()},
            folder_.path()};
}

void bed::init(const std::string& plugin) const {
    // Another stream and another slot, whose rows are to be published again: with the witness of
    // those of before, that would be a loss.
    postgres.session().execute("DROP SCHEMA IF EXISTS walrelay CASCADE");
    write_settings(plugin);
    // Three servers on a busy machine may take longer for a stream than anybody waits.
    constexpr int tries = 3;
    auto made = test::run_to_end(how("init", plugin), patience);
    for (int more = 1; made.exit_code != 0 && more < tries; ++more) {
        made = test::run_to_end(how("init", plugin), patience);
    }
    if (made.exit_code != 0) {
        throw std::runtime_error("walrelay init failed:\n" + made.errors);
    }
}

void bed::remove_slot(const std::string& name) const {
    auto session = postgres.session();
    const bool idle = test::eventually(patience, [&] {
        return session
            .query("SELECT 1 FROM pg_replication_slots WHERE active AND slot_name = '" + name + "'")
            .empty();
    });
    if (!idle) {
        throw std::runtime_error("slot " + name + " is still in use");
    }
    session.execute(
        "SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots WHERE slot_name = '" +
        name + "'");
}

std::uint64_t bed::body_bytes_now(std::uint64_t row) {
    const auto before = reader_.message_count(stream);
    postgres.session().execute(insert_rows(row, row));
    if (!reader_.wait_for(stream, before + 1, patience)) {
        throw std::runtime_error("a row that was inserted does not come into the stream");
    }
    const auto last = reader_.last(stream, "events.>");
    message_.emplace(last.value());
    return last->body.size();
}

void bed::learn(const std::string& plugin, std::uint64_t body_bytes) {
    auto session = postgres.session();
    remove_slot(slot);
    init(plugin);
    test::relay_process relay(how("run", plugin));
    if (!relay.wait_for_log("streaming from slot", patience)) {
        throw std::runtime_error("walrelay does not stream:\n" + relay.log());
    }
    set_filler(session, 1);
    const auto least = body_bytes_now(first_sample + ++samples_);
    if (least <= body_bytes) {
        set_filler(session, body_bytes - least + 1);
        (void)body_bytes_now(first_sample + ++samples_);
    }
    options_[plugin] = options_in(postgres.log());
    if (relay.stop(patience) != 0) {
        throw std::runtime_error("walrelay did not stop in order:\n" + relay.log());
    }
    reader_.remove(stream);
}

void bed::calibrate(std::uint64_t body_bytes) {
    for (const std::string plugin : {"pgoutput", "wal2json"}) {
        body_ = "event";
        learn(plugin, body_bytes);
        if (message_->body_bytes() != body_bytes) {
            body_ = "payload";
            learn(plugin, body_bytes);
        }
        if (message_->body_bytes() != body_bytes) {
            throw std::runtime_error(
                fmt::format("no row makes a message with a body of {} B", body_bytes));
        }
    }
    message_->save(message_file());
    remove_slot(slot);
    remove_slot("base");
    auto session = postgres.session();
    session.execute(fmt::format("TRUNCATE {}", outbox_table));
    session.execute("SELECT pg_create_logical_replication_slot('base', 'pgoutput')");
}

void bed::require_space(const backlog& what) const {
    // A row is in its table, in the WAL, in the stream, and for a while in files of the decoder.
    constexpr std::uint64_t copies = 4;
    constexpr std::uint64_t bytes_besides_body = 250;
    constexpr double bytes_in_gb = 1e9;
    const auto tables = what.busy_neighbour ? 2U : 1U;
    const auto needed = what.rows * copies * tables * (message_->body_bytes() + bytes_besides_body);
    const auto there = std::filesystem::space(folder_.path()).available;
    if (there < needed) {
        throw std::runtime_error(fmt::format(
            "{} rows need about {:.0f} GB in {}, which has {:.0f} GB left: set TMPDIR to a folder "
            "with more, or take fewer with --rows or --growth",
            what.rows, static_cast<double>(needed) / bytes_in_gb,
            folder_.path().parent_path().string(), static_cast<double>(there) / bytes_in_gb));
    }
}

void bed::fill(const backlog& what) const {
    require_space(what);
    auto session = postgres.session();
    bench::fill(session, what);
}

void bed::reset_slot(const std::string& plugin) const {
    remove_slot(slot);
    postgres.session().execute(fmt::format(
        "SELECT pg_copy_logical_replication_slot('base', '{}', false, '{}')", slot, plugin));
}

void bed::reset(const std::string& plugin) {
    url_ = nats.url();
    remove_stream();
    reset_slot(plugin);
    init(plugin);
}

/// By a message that the stream refuses, which nobody does before its leader has taken its
/// subjects.
bool bed::takes_publishes() {
    try {
        (void)reader_.publish(message_->subject(), "", {{"Nats-Expected-Stream", "none"}});
    } catch (const std::runtime_error& refusal) {
        return std::string(refusal.what()).find("does not match") != std::string::npos;
    }
    return true;
}

void bed::remake_stream(bool takes_batches) {
    const auto seen = reader_.state(stream).value();
    reader_.remove(stream);
    // In JSON, as the library does not know allow_batched, nor do older servers.
    nlohmann::json configuration{{"name", stream},
                                 {"subjects", seen.subjects},
                                 {"num_replicas", nats.replicas()},
                                 {"duplicate_window", seen.duplicate_window.count()}};
    if (takes_batches) {
        configuration["allow_batched"] = true;
    }
    reader_.create(stream, configuration.dump());
    if (!test::eventually(patience, [&] { return takes_publishes(); })) {
        throw std::runtime_error("the stream takes no publishes");
    }
}

void bed::connect_at(broker_role role, const std::string& plugin) {
    std::string leader;
    const bool led = nats.replicas() == 1 || test::eventually(patience, [&] {
                         const auto seen = reader_.state(stream);
                         leader = seen ? seen->leader : "";
                         return !leader.empty();
                     });
    if (!led) {
        throw std::runtime_error("the stream has no leader");
    }
    url_ = nats.url_of(role, leader);
    write_settings(plugin);
}

void bed::start_over(const std::string& plugin) {
    remove_stream();
    remove_slots();
    auto session = postgres.session();
    restore_tables(session);
    // Else it would come in the middle of somebody's run.
    session.execute("CHECKPOINT");
    init(plugin);
}

void bed::remove_slots() const {
    remove_slot("base");
    remove_slot(slot);
}

void bed::remove_stream() {
    if (reader_.state(stream)) {
        reader_.remove(stream);
    }
}

bool bed::wait_for_reader(std::chrono::seconds limit) const {
    auto session = postgres.session();
    return test::eventually(limit, [&] {
        return session.value_of(
                   fmt::format("SELECT count(*) FROM pg_replication_slots WHERE active AND "
                               "slot_name = '{}'",
                               slot)) == "1";
    });
}

std::vector<std::uint64_t> bed::rows_in_stream() {
    std::vector<std::uint64_t> rows;
    reader_.for_each(stream, 0, [&](const test::stored_message& message) {
        const auto row = row_in(message.header("Nats-Msg-Id"));
        // Who sends no id has it in the body.
        rows.push_back(row ? *row : row_in(message.body).value_or(0));
    });
    return rows;
}

test::command bed::publish(std::uint64_t rows, publisher_kind kind) const {
    test::command what{.program = tools_.publisher,
                       .arguments = {"--nats", url_, "--like", message_file().string(), "--rows",
                                     std::to_string(rows)},
                       .folder = folder_.path(),
                       .name = "publisher"};
    if (kind == publisher_kind::bare) {
        what.arguments.emplace_back("--bare");
    }
    return what;
}

test::command bed::decode_for_ever(const std::string& plugin) const {
    test::command what{.program = (test::postgres_binary_folder() / "pg_recvlogical").string(),
                       .arguments = {"-d", postgres.conninfo(), "--slot", slot, "--start", "-f",
                                     "/dev/null", "--no-loop"},
                       .folder = folder_.path(),
                       .name = "pg_recvlogical"};
    for (const auto& [name, value] : options_of(plugin)) {
        what.arguments.insert(what.arguments.end(), {"-o", fmt::format("{}={}", name, value)});
    }
    return what;
}

test::command bed::decode(const std::string& plugin) const {
    auto what = decode_for_ever(plugin);
    what.arguments.insert(what.arguments.end(),
                          {"--endpos", postgres.session().value_of("SELECT pg_current_wal_lsn()")});
    return what;
}

bed::arrival bed::messages_within(std::uint64_t count, clock_type::time_point start,
                                  std::chrono::seconds limit) {
    constexpr double longest_pause_seconds = 0.2;
    constexpr double milliseconds = 1000;
    while (true) {
        const auto now = reader_.message_count(stream);
        const double elapsed = seconds_since(start);
        if (now >= count || elapsed > static_cast<double>(limit.count())) {
            return {.messages = now, .seconds = elapsed};
        }
        const double left =
            now == 0 ? 0 : elapsed / static_cast<double>(now) * static_cast<double>(count - now);
        const double pause = std::clamp(left / 4, 1 / milliseconds, longest_pause_seconds);
        poll(nullptr, 0, static_cast<int>(pause * milliseconds));
    }
}

double bed::wait_for_messages(std::uint64_t count, clock_type::time_point start,
                              std::chrono::seconds limit) {
    const auto arrived = messages_within(count, start, limit);
    if (arrived.messages < count) {
        throw std::runtime_error(
            fmt::format("the stream has {} messages instead of {}", arrived.messages, count));
    }
    return arrived.seconds;
}

bool bed::wait_for_confirmed(const std::string& lsn, std::chrono::seconds limit) const {
    auto session = postgres.session();
    return test::eventually(limit, [&] {
        return session.value_of(fmt::format("SELECT confirmed_flush_lsn >= '{}' FROM "
                                            "pg_replication_slots WHERE slot_name = '{}'",
                                            lsn, slot)) == "t";
    });
}

}  // namespace walrelay::bench
